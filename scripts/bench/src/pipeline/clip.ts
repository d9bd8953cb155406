import { stat } from 'node:fs/promises';
import { type Inference, type RenderResult } from '@lipsync/gpu-worker';
import { machineCpuSeconds, processCpuSeconds } from '@lipsync/local-stack';
import { type Binaries } from '@lipsync/media';
import { type Clip, type ClipShape, makeClip } from '@lipsync/models';

/** What every measurement of the pipeline is given. */
export interface PipelineBench {
  readonly binaries: Binaries;
  readonly cores: number;
  /** For clips and outputs. */
  readonly folder: string;
  readonly inference: Inference;
  readonly runs: number;
  /** Minutes pass between one result and the next. */
  readonly say: (line: string) => void;
}

/** A clip with an existing face track. */
export interface PreparedClip extends Clip {
  readonly shape: ClipShape;
  readonly megabitsPerSecond: number;
  readonly faceTrackPath: string;
}

export async function prepareClip(
  ffmpeg: string,
  folder: string,
  inference: Inference,
  shape: ClipShape,
): Promise<PreparedClip> {
  const clip = await makeClip(ffmpeg, folder, shape);
  const faceTrackPath = `${clip.videoFile}.track`;
  await inference.analyze({ videoPath: clip.videoFile, trackPath: faceTrackPath });
  const { size } = await stat(clip.videoFile);
  return { ...clip, shape, megabitsPerSecond: (size * 8) / 1e6 / shape.seconds, faceTrackPath };
}

/** Renders a prepared clip with the musetalk pack of `inference`. */
export function renderClip(
  inference: Inference,
  clip: PreparedClip,
  outputPath: string,
): Promise<RenderResult> {
  const { videoFile, audioFile, faceTrackPath } = clip;
  return inference.render({
    engine: 'musetalk',
    videoPath: videoFile,
    audioPath: audioFile,
    outputPath,
    syncMode: 'cut_off',
    faceTrackPath,
  });
}

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
