import { saysOutOfMemory } from '../protocol/memory';
import { type PackReport } from '../protocol/messages';
import { InferenceCrash } from './inference-error';
import { createInferenceHost, type InferenceHost, type TaskOptions } from './inference-host';

/**
 * Reports what a worker would find out about a pack when it starts, using an inference process of its own: manifest,
 * digests, graphs, probes, and the provider that the graphs run on. `entry` is the compiled child, by default this
 * package's; aborting `signal` ends it. Never rejects: failures are part of the report.
 */
export async function checkPack(
  packDir: string,
  { signal, ...options }: { entry?: string; signal?: AbortSignal } = {},
): Promise<PackReport> {
  const host = createInferenceHost({ ...options, cancelGraceMs: 0 });
  try {
    return await reportOnPack(packDir, host, signal && { signal });
  } finally {
    host.kill();
  }
}

/**
 * Lets the child load every graph of a pack, compare it with the manifest and run the probes. Never rejects: a child
 * that dies because of a pack also yields a report. A child killed from outside did nothing wrong: the kernel kills it
 * when memory runs out. A child that could not allocate the memory it needs says so in its last output.
 */
export async function reportOnPack(
  packDir: string,
  host: Pick<InferenceHost, 'verify'>,
  options?: TaskOptions,
): Promise<PackReport> {
  try {
    const { packs } = await host.verify({ jobId: `verify:${packDir}`, packDirs: [packDir] }, options);
    const report = packs.find((each) => each.packDir === packDir);
    return report ?? { packDir, problem: 'the inference process reported nothing' };
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    const shortOfMemory = error instanceof InferenceCrash && diedForMemory(error);
    return { packDir, problem, ...(shortOfMemory && { shortOfMemory }) };
  }
}

const diedForMemory = ({ exit, stderr }: InferenceCrash): boolean =>
  exit.signal === 'SIGKILL' || saysOutOfMemory(stderr);
