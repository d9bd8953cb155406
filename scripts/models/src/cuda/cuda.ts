import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Row } from '@lipsync/admin';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';
import { encodeModel, GraphBuilder } from '@lipsync/model-pack';

/** Whether graphs run on CUDA here, and the libraries that this takes. */
interface CudaState {
  /** ONNX Runtime's CUDA provider; undefined where it is not installed. */
  readonly provider: string | undefined;
  /** NVIDIA's libraries that the provider is linked with: where each was found, or "not found". */
  readonly libraries: Readonly<Record<string, string>>;
  /** Why no graph runs; undefined when one did. */
  readonly problem: string | undefined;
}

/** Where a provider can be had. */
export const PROVIDER_SOURCES = ['nuget', 'npm'] as const;
export type ProviderSource = (typeof PROVIDER_SOURCES)[number];

interface InstallOptions extends Pick<Options, 'runtime'> {
  readonly from?: ProviderSource;
}

/** A copy of onnxruntime-node, and the compiled trial. */
interface Options {
  readonly runtime?: string;
  readonly trial?: string;
}

/** The runtime of the gpu-worker's inference process: the workspace has one version. */
const RUNTIME = path.dirname(require.resolve('onnxruntime-node/package.json'));

/**
 * Installs the CUDA provider that belongs to the installed onnxruntime-node, unless it is there: from NuGet as the images
 * do, or from the npm registry. Rejects when it cannot be had. Reads NUGET, NPM_REGISTRY and ONNXRUNTIME_CUDA_SHA512
 * (deploy/docker/README.md).
 */
export async function installCudaProvider(
  tell: (line: string) => void,
  { runtime = RUNTIME, from = 'nuget' }: InstallOptions = {},
): Promise<void> {
  if ((await providerIn(runtime)) !== undefined) return;
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error(`ONNX Runtime has CUDA for Linux on x64, not for ${process.platform} on ${process.arch}`);
  const program = path.join(REPOSITORY_ROOT, 'deploy', 'docker', 'cuda-provider.mjs');
  if (!existsSync(program)) throw new Error('this image was built without CUDA (ONNXRUNTIME_CUDA=skip)');
  tell("downloading ONNX Runtime's CUDA provider, which takes minutes");
  const { status, output } = run(process.execPath, [program, runtime], {
    ...process.env,
    CUDA_PROVIDER: from,
  });
  if (status !== 0) throw new Error(`the CUDA provider was not installed: ${output.trim()}`);
  tell(output.trim());
}

/** Asks the loader for the provider's libraries, and runs a small graph in a process of its own. */
export async function cudaState({
  runtime = RUNTIME,
  trial = path.join(__dirname, 'cuda-trial.js'),
}: Options = {}): Promise<CudaState> {
  const provider = await providerIn(runtime);
  const problem = await tryGraph(runtime, trial);
  return { provider, libraries: provider === undefined ? {} : linkedWith(provider), problem };
}

/** The state as the command prints it. */
export function cudaRow({ provider, libraries, problem }: CudaState): Row {
  const state = problem === undefined ? 'graphs run on CUDA' : `not usable: ${problem}`;
  return { provider: provider ?? 'not installed', ...libraries, state };
}

async function providerIn(runtime: string): Promise<string | undefined> {
  const files = await readdir(runtime, { recursive: true });
  const found = files.find((file) => path.basename(file) === 'libonnxruntime_providers_cuda.so');
  return found === undefined ? undefined : path.join(runtime, found);
}

const LOADER = '/lib64/ld-linux-x86-64.so.2';

/** See ld.so(8). What it opens only while it works, as cuDNN does its parts, shows when a graph runs. */
function linkedWith(library: string): Record<string, string> {
  const searched = [process.env['LD_LIBRARY_PATH'], path.dirname(library)].filter(Boolean).join(':');
  const env = { LD_TRACE_LOADED_OBJECTS: '1', LD_LIBRARY_PATH: searched };
  const { output } = run(LOADER, [library], env);
  const lines = [...output.matchAll(/^\s*(\S+) => (not found|\/\S+)/gm)];
  const wanted = lines.filter(([, name = '', found]) => /^lib(cu|nv)/.test(name) || found === 'not found');
  return Object.fromEntries(wanted.map(([, name = '', found = '']) => [name, found]));
}

/** What the runtime said, undefined if the graph ran. */
async function tryGraph(runtime: string, trial: string): Promise<string | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'cuda-trial-'));
  try {
    const model = path.join(folder, 'twice.onnx');
    await writeFile(model, twice());
    const env = { ...process.env, ORT_DISABLE_TELEMETRY: '1' };
    const { status, output } = run(process.execPath, [trial, runtime, model], env);
    if (status === 0) return undefined;
    // Its log names the library that cannot be loaded; its exception does not.
    const [, library] = /with error: (.+)/.exec(output) ?? [];
    return library ?? output.trim().split('\n').at(-1) ?? `the trial ended with ${status}`;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** y = 2x by a convolution (cuDNN) and a product of matrices (cuBLAS), exact in every precision. */
function twice(): Uint8Array {
  const g = new GraphBuilder('twice');
  const x = g.input('x', 'float32', [1, 4, 2, 2]);
  const diagonal = (value: number) => Float32Array.from({ length: 16 }, (_, i) => (i % 5 === 0 ? value : 0));
  const halved = g.op('Conv', [x, g.weights([4, 4, 1, 1], diagonal(0.5))]);
  const product = g.op('MatMul', [g.op('Reshape', [halved, g.ints([4, 4])]), g.weights([4, 4], diagonal(4))]);
  g.output('y', g.op('Reshape', [product, g.ints([1, 4, 2, 2])]), 'float32', [1, 4, 2, 2]);
  return encodeModel(g.build());
}

/** Both outputs of a program; status null if it was killed. */
function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const { error, status, stdout, stderr } = spawnSync(command, args, { env, encoding: 'utf8' });
  return error === undefined ? { status, output: stdout + stderr } : { status: 127, output: error.message };
}
