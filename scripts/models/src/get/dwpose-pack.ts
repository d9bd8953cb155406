import { readFile } from 'node:fs/promises';
import { type AnalyzerManifest, landmarksRole, type Pack, writePack } from '@lipsync/engines';
import { encodeModel, modelPath, type Probe, type Provider } from '@lipsync/model-pack';
import { DWPOSE_PATCH_SIDE, dwposeLandmarks } from './dwpose';

interface DwposePackOptions {
  /** The published dw-ll_ucoco_384.onnx. */
  readonly network: Uint8Array;
  /** The pack that gives everything else: what finds faces, and what hears. */
  readonly others: Pack<AnalyzerManifest>;
  readonly name: string;
  readonly provider: Provider;
  /** Runs the finished graph: `image` [n, side, side, 3] → its `points`. */
  readonly run: (graph: Uint8Array, image: Uint8Array, dims: readonly number[]) => Promise<Float32Array>;
}

/**
 * Height of the patch in extents of the face's landmarks, brows to chin: the network was trained on persons, and sees
 * one from the hair to the chest and as wide as the shoulders. A face is then 96 pixels high in its input, and the
 * places of a point half a pixel, 0.5 % of the face, apart.
 */
const SCALE = 4;

/** In parts of the face the same as of the built-in pack, whose patch is 1.2 extents. */
const DISAGREEMENT = { sharp: (0.03 * 1.2) / SCALE, blurred: (0.045 * 1.2) / SCALE };

/**
 * Writes an analyzer pack with DWPose's face points and everything else of another pack. Rejects with PackError if the
 * network is not DWPose's.
 */
export async function writeDwposePack(outDir: string, options: DwposePackOptions): Promise<Pack> {
  const { others, name, provider, network } = options;
  const { roles, license, params } = others.manifest;
  const { face_detector, voice, hearing, palm_detector, hand_landmarks } = roles;
  const kept = { face_detector, voice, hearing, palm_detector, hand_landmarks };
  const landmarks = encodeModel(dwposeLandmarks(network));
  const manifest: AnalyzerManifest = {
    format: 1,
    engine: 'analyzer',
    name,
    version: '1.0.0',
    license: {
      // DWPose is under Apache-2.0, as the hand networks are.
      spdx: license.spdx,
      source: `landmarks: IDEA-Research/DWPose, dw-ll_ucoco_384.onnx; others: ${license.source}`,
    },
    providers: [provider],
    roles: {
      ...kept,
      landmarks68: {
        ...landmarksRole(landmarks, DWPOSE_PATCH_SIDE),
        probe: await probeOf(landmarks, options),
      },
    },
    params: {
      detector: params.detector,
      landmarks: {
        inputSize: DWPOSE_PATCH_SIDE,
        scale: SCALE,
        maxDisagreement: DISAGREEMENT.sharp,
        maxDisagreementBlurred: DISAGREEMENT.blurred,
      },
    },
  };
  const models: Record<string, Uint8Array> = { 'landmarks68.onnx': landmarks };
  for (const role of Object.values(kept)) models[role.file] = await readFile(modelPath(others, role));
  return writePack(outDir, manifest, models);
}

/**
 * What the graph computes here. The tolerance is a few points in another place: on a picture without a person the
 * scores of distant places may be nearly equal.
 */
async function probeOf(graph: Uint8Array, { run }: DwposePackOptions): Promise<Probe> {
  const dims = [2, DWPOSE_PATCH_SIDE, DWPOSE_PATCH_SIDE, 3];
  const image = new Uint8Array(dims.reduce((product, dim) => product * dim, 1)).fill(128);
  const points = await run(graph, image, dims);
  const mean = (of: (value: number) => number): number =>
    points.reduce((sum, value) => sum + of(value), 0) / points.length;
  return {
    dims: { n: 2 },
    fill: { image: 128 },
    means: { points: mean((value) => value) },
    rms: { points: Math.sqrt(mean((value) => value * value)) },
    tolerance: 0.02,
  };
}
