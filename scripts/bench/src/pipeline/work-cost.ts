import { type Inference } from '@lipsync/gpu-worker';
import { machineCpuSeconds, processCpuSeconds } from '@lipsync/local-stack';

/** The cost of a piece of work in seconds. */
export interface WorkCost {
  readonly wall: number;
  /** Processor time of Node itself: pixel kernels, pipes, graphs. */
  readonly nodeCpu: number;
  /** Processor time of the ffmpeg and ffprobe processes that it started. */
  readonly mediaCpu: number;
  /** Processor time of everything else on the machine meanwhile, which wall time includes. */
  readonly othersCpu: number;
}

/** The process id of an inference that has started its first task. */
export function processOf(inference: Inference): number {
  const pid = inference.pid();
  if (pid === undefined) throw new Error('the inference process is not running');
  return pid;
}

/** The cost of a program that this process starts and waits for, without doing anything else. */
export async function costOfProgram(work: () => Promise<unknown>): Promise<WorkCost> {
  const { cost } = await costIn(process.pid, work);
  return { ...cost, nodeCpu: 0 };
}

/** The cost of work in a process, including the programs that it starts and waits for. */
export async function costIn<T>(pid: number, work: () => Promise<T>): Promise<{ result: T; cost: WorkCost }> {
  const before = processCpuSeconds(pid);
  const machineBefore = machineCpuSeconds();
  const startedAt = performance.now();
  const result = await work();
  const wall = (performance.now() - startedAt) / 1000;
  const after = processCpuSeconds(pid);
  const nodeCpu = after.own - before.own;
  const mediaCpu = after.endedChildren - before.endedChildren;
  const othersCpu = machineCpuSeconds() - machineBefore - nodeCpu - mediaCpu;
  return { result, cost: { wall, nodeCpu, mediaCpu, othersCpu } };
}

export function meanCost(a: WorkCost, b: WorkCost): WorkCost {
  return {
    wall: (a.wall + b.wall) / 2,
    nodeCpu: (a.nodeCpu + b.nodeCpu) / 2,
    mediaCpu: (a.mediaCpu + b.mediaCpu) / 2,
    othersCpu: (a.othersCpu + b.othersCpu) / 2,
  };
}
