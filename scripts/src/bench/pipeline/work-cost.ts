import { type Inference } from '@lipsync/gpu-worker';
import { cpuSeconds } from './process-usage';

/** What a piece of work cost, in seconds. */
export interface WorkCost {
  readonly wall: number;
  /** Processor time of Node itself: pixel kernels, pipes, graphs. */
  readonly nodeCpu: number;
  /** Processor time of the ffmpeg and ffprobe processes that it started. */
  readonly mediaCpu: number;
}

/** The process of an inference that has begun its first task. */
export function processOf(inference: Inference): number {
  const pid = inference.pid();
  if (pid === undefined) throw new Error('the inference process is not running');
  return pid;
}

/** Of a program that this process starts, waits for, and has nothing else to do with. */
export async function costOfProgram(work: () => Promise<unknown>): Promise<WorkCost> {
  const before = cpuSeconds(process.pid);
  const startedAt = performance.now();
  await work();
  const wall = (performance.now() - startedAt) / 1000;
  return { wall, nodeCpu: 0, mediaCpu: cpuSeconds(process.pid).endedChildren - before.endedChildren };
}

/** Of work in another process, with the programs that it starts and waits for. */
export async function costIn<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; cost: WorkCost }> {
  const before = cpuSeconds(pid);
  const startedAt = performance.now();
  const result = await work();
  const wall = (performance.now() - startedAt) / 1000;
  const after = cpuSeconds(pid);
  const nodeCpu = after.own - before.own;
  return { result, cost: { wall, nodeCpu, mediaCpu: after.endedChildren - before.endedChildren } };
}
