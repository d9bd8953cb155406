import { readFile } from 'node:fs/promises';
import { type AnalyzerManifest, openPackFor, type Pack } from '@lipsync/engines';
import { openPackFolders } from '@lipsync/gpu-worker';
import { type Provider } from '@lipsync/model-pack';
import { onnxRuntime } from '../onnx-runtime';
import { writeDwposePack } from './dwpose-pack';

/**
 * The analyzer in use among the packs in a folder; where a damaged or outdated one is in the way, the one behind it.
 * Rejects if there is none.
 */
export async function readAnalyzer(packsDir: string): Promise<Pack<AnalyzerManifest>> {
  const { packs } = await openPackFolders(packsDir);
  const analyzers = packs.filter(({ pack }) => pack.manifest.engine === 'analyzer');
  const found = analyzers.find(({ behind }) => behind === undefined) ?? analyzers[0];
  if (found === undefined) throw new Error(`${packsDir} holds no face analyzer that can be used`);
  return openPackFor('analyzer', found.dir);
}

interface AnalyzerExport {
  /** The published network. */
  readonly file: string;
  readonly others: Pack<AnalyzerManifest>;
  readonly out: string;
  readonly name: string;
  readonly provider: Provider;
}

/** Makes an analyzer pack of DWPose's published graph and the rest of another analyzer. Rejects if it is another graph. */
export async function exportAnalyzer({ file, out, ...options }: AnalyzerExport): Promise<void> {
  await writeDwposePack(out, { ...options, network: await readFile(file), run });
}

/** Runs a finished graph once, on the CPU, to record what it computes. */
async function run(graph: Uint8Array, image: Uint8Array, dims: readonly number[]): Promise<Float32Array> {
  const { InferenceSession, Tensor } = await onnxRuntime();
  const session = await InferenceSession.create(graph, { logSeverityLevel: 4 });
  try {
    const { points } = await session.run({ image: new Tensor('uint8', image, dims) });
    if (!(points?.data instanceof Float32Array)) throw new TypeError('the graph returned no points');
    return Float32Array.from(points.data);
  } finally {
    await session.release();
  }
}
