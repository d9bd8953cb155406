import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Release } from './published';

/** The Python with torch and onnx that runs the exporters, and the folder of their programs. */
export interface Exporter {
  readonly python: string;
  readonly programs: string;
}

interface ExportOptions {
  readonly weights: string;
  readonly upstream: string;
  readonly out: string;
  /** Passed on: --fp16, --provider and others. */
  readonly options: readonly string[];
}

/** Rejects if this Python cannot export. Worth knowing before gigabytes are downloaded. */
export async function checkExporter({ python }: Exporter): Promise<void> {
  const { status, output } = await run(python, ['-c', 'import torch, onnx'], 'pipe');
  if (status === 0) return;
  const reason = output.trim().split('\n').at(-1) ?? '';
  throw new Error(
    `${python} cannot run the exporter (${reason}). Name a Python with torch and onnx in LIPSYNC_PYTHON, ` +
      'or use the image that has one: deploy/docker/README.md',
  );
}

/** Runs the exporter of a release. Rejects if it fails; it writes the pack completely or not at all. */
export async function exportPack(
  { engine, exporter: own }: Release,
  { python, programs }: Exporter,
  { weights, upstream, out, options }: ExportOptions,
): Promise<void> {
  const scratch = `${out}.tmp`;
  await mkdir(scratch, { recursive: true });
  try {
    const folders = ['--upstream', upstream, '--weights', weights, '--out', out];
    const special = own.map((argument) => argument.replace('{weights}', weights));
    const program = path.join(programs, `${engine}.py`);
    // Torch puts the weights that are too large for one file there: as much as the weights are.
    const env = { ...process.env, TMPDIR: scratch, PYTHONDONTWRITEBYTECODE: '1' };
    const { status } = await run(python, [program, ...folders, ...special, ...options], 'inherit', env);
    if (status !== 0) throw new Error(`the exporter failed with status ${status}; its last lines say why`);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/**
 * The upstream repository at the release's commit: `given`, or a clone below `cache`. Rejects if a given checkout is at
 * another commit; one without git is taken as it is.
 */
export async function upstreamAt(
  { engine, upstream }: Release,
  { given, cache, address }: { given?: string | undefined; cache: string; address: string },
): Promise<string> {
  if (upstream === undefined) throw new Error(`${engine} has no upstream code`);
  const { repository, commit } = upstream;
  if (given !== undefined) {
    if (!(await isThere(given))) throw new Error(`${given} is not there`);
    // A checkout in its own right: git would also answer for a repository around it.
    if (!(await isThere(path.join(given, '.git')))) return path.resolve(given);
    const head = (await git('-C', given, 'rev-parse', 'HEAD')).trim();
    if (head !== commit)
      throw new Error(
        `${given} is at ${head}; the exporter wants ${commit}: git -C ${given} checkout ${commit}`,
      );
    return path.resolve(given);
  }
  const target = path.join(cache, 'upstream', `${path.basename(repository)}-${commit.slice(0, 8)}`);
  if (await isThere(target)) return target;
  await mkdir(path.dirname(target), { recursive: true });
  const staging = await mkdtemp(`${target}-`);
  try {
    const url = `${address}/${repository}`;
    await git('init', '--quiet', staging);
    await git('-C', staging, 'fetch', '--quiet', '--depth', '1', url, commit).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(
        `${reason}\nClone ${url} at ${commit} elsewhere, and name the checkout with --upstream`,
      );
    });
    await git('-C', staging, 'checkout', '--quiet', commit);
    // Another release of this engine may have cloned it meanwhile.
    await rename(staging, target).catch(async (error: unknown) => {
      if (!(await isThere(target))) throw error;
    });
    return target;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

async function git(...args: string[]): Promise<string> {
  const { status, output } = await run('git', args, 'pipe', { ...process.env, GIT_TERMINAL_PROMPT: '0' });
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${output.trim()}`);
  return output;
}

async function isThere(place: string): Promise<boolean> {
  return (await stat(place).catch(() => null)) !== null;
}

/** What the program prints goes to the error output, which leaves the other one to the result, or is collected. */
function run(
  command: string,
  args: readonly string[],
  output: 'inherit' | 'pipe',
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve) => {
    const target = output === 'pipe' ? 'pipe' : process.stderr;
    const child = spawn(command, args, { env, stdio: ['ignore', target, target] });
    let text = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    child.once('error', (error) => resolve({ status: 127, output: error.message }));
    child.once('close', (status) => resolve({ status, output: text }));
  });
}
