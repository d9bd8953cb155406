import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { promisify } from 'node:util';
import { median } from '@lipsync/local-stack';
import { audioEncoderArguments, type Binaries, inspect, videoEncoderArguments } from '@lipsync/media';
import {
  costIn,
  costOfProgram,
  meanCost,
  type PipelineBench,
  type PreparedClip,
  processOf,
  renderClip,
  type WorkCost,
} from './clip';

export interface TranscodeFigures {
  picture: string;
  seconds: number;
  megabits_per_second: number;
  runs: number;
  transcode_seconds: number;
  piped_seconds: number;
  render_seconds: number;
  /**
   * Wall time of a render divided by the mean of the transcodes before and after it, because a machine's speed drifts.
   */
  times_transcode: number;
  /** Wall time of the transcode in two processes divided by that in one. */
  piped_times_transcode: number;
  cpu_seconds: { transcode: number; piped: number; render_node: number; render_media: number };
  /**
   * Share of all cores that went to other work during the transcode and during the render, which distorts wall time.
   */
  others_share: { transcode: number; render: number };
}

interface Turn {
  /** The mean of two, one before and one after the others. */
  readonly plain: WorkCost;
  readonly piped: WorkCost;
  readonly render: WorkCost;
}

/**
 * The pipeline's cost around the networks: two kinds of plain transcodes, and renders, of one clip in alternation;
 * medians.
 */
export async function benchTranscode(bench: PipelineBench, clip: PreparedClip): Promise<TranscodeFigures> {
  const turns = await inTurns(bench, clip);
  const of = (measure: (turn: Turn) => number): number => median(turns.map(measure));
  return {
    picture: `${clip.shape.width}x${clip.shape.height}`,
    seconds: clip.seconds,
    megabits_per_second: clip.megabitsPerSecond,
    runs: bench.runs,
    transcode_seconds: of(({ plain }) => plain.wall),
    piped_seconds: of(({ piped }) => piped.wall),
    render_seconds: of(({ render }) => render.wall),
    times_transcode: of(({ plain, render }) => render.wall / plain.wall),
    piped_times_transcode: of(({ plain, piped }) => piped.wall / plain.wall),
    cpu_seconds: {
      transcode: of(({ plain }) => plain.mediaCpu),
      piped: of(({ piped }) => piped.mediaCpu),
      render_node: of(({ render }) => render.nodeCpu),
      render_media: of(({ render }) => render.mediaCpu),
    },
    others_share: {
      transcode: of(({ plain }) => plain.othersCpu / plain.wall / bench.cores),
      render: of(({ render }) => render.othersCpu / render.wall / bench.cores),
    },
  };
}

async function inTurns(
  { binaries, folder, inference, runs, say }: PipelineBench,
  clip: PreparedClip,
): Promise<Turn[]> {
  const outFile = path.join(folder, 'transcode.mp4');
  const transcodePlainly = (): Promise<WorkCost> => costOfProgram(() => transcode(binaries, clip, outFile));
  const turns: Turn[] = [];
  let before = await transcodePlainly();
  for (let run = 0; run < runs; run++) {
    const piped = await costOfProgram(() => transcodeThroughPipe(binaries, clip, outFile));
    const { cost: render } = await costIn(processOf(inference), () =>
      renderClip(inference, clip, path.join(folder, 'render.mp4')),
    );
    const after = await transcodePlainly();
    turns.push({ plain: meanCost(before, after), piped, render });
    before = after;
    say(`  round ${run + 1} of ${runs}`);
  }
  return turns;
}

const QUIETLY = ['-nostdin', '-v', 'error', '-y'];

/** Decodes the clip and encodes it with a render's own arguments, and nothing else: the lower bound for any render. */
export async function transcode(binaries: Binaries, clip: PreparedClip, outFile: string): Promise<void> {
  await promisify(execFile)(binaries.ffmpeg, [
    ...[...QUIETLY, '-i', clip.videoFile],
    ...(await encoding(binaries, clip, outFile)),
  ]);
}

/**
 * The same in two processes connected by a pipe: the lower bound for any render whose pictures pass through another
 * process than ffmpeg.
 */
async function transcodeThroughPipe(binaries: Binaries, clip: PreparedClip, outFile: string): Promise<void> {
  const { width, height, fps } = clip.shape;
  const raw = ['-f', 'rawvideo', '-pix_fmt', 'yuv420p'];
  const encoder = spawn(
    binaries.ffmpeg,
    [
      ...[...QUIETLY, ...raw, '-video_size', `${width}x${height}`, '-framerate', String(fps), '-i', 'pipe:0'],
      ...(await encoding(binaries, clip, outFile)),
    ],
    { stdio: ['pipe', 'ignore', 'inherit'] },
  );
  const decoder = spawn(
    binaries.ffmpeg,
    [...QUIETLY, '-i', clip.videoFile, '-map', '0:v', ...raw, 'pipe:1'],
    { stdio: ['ignore', encoder.stdin, 'inherit'] },
  );
  // Both processes have inherited the pipe; while it is also open here, the encoder never sees its end.
  encoder.stdin.destroy();
  const ends = await Promise.all([once(decoder, 'exit'), once(encoder, 'exit')]);
  if (ends.some(([code]) => code !== 0)) throw new Error(`${clip.videoFile} could not be transcoded`);
}

/** The output arguments that follow those of the pictures. */
async function encoding(binaries: Binaries, clip: PreparedClip, outFile: string): Promise<string[]> {
  const { audio: stream } = await inspect(binaries, clip.audioFile);
  if (stream === undefined) throw new Error(`${clip.audioFile} has no sound`);
  return [
    ...['-i', clip.audioFile, '-map', '0:v', '-map', '1:a'],
    ...videoEncoderArguments(binaries.codecs.encoder, {
      threads: binaries.share.encoderThreads,
      fps: clip.shape.fps,
    }),
    ...audioEncoderArguments({ path: clip.audioFile, stream }),
    ...['-movflags', '+faststart', outFile],
  ];
}
