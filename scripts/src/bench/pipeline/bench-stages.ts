import path from 'node:path';
import { type Inference, type StageTimings } from '@lipsync/gpu-worker';
import { transcode } from '../clips';
import { median } from '../median';
import { type PreparedClip } from './prepared-clip';
import { renderClip } from './render-clip';
import { costIn, costOfProgram, processOf, type WorkCost } from './work-cost';

export interface StageFigures {
  picture: string;
  seconds: number;
  runs: number;
  render_seconds: number;
  /** What each stage takes by itself: graphs on their thread, pictures on the main one, decoding and encoding together. */
  stage_seconds: { graphs: number; pictures: number; transcode: number };
  busiest_stage: string;
  /** Wall time of a render over its busiest stage. */
  times_busiest_stage: number;
  cpu_seconds: { node: number; media: number };
  /** The least that it could be with this much work, were it spread evenly over all cores. */
  bound: number;
  /** Where the render's time went, waiting included. */
  timings: StageTimings;
}

interface StageBench {
  readonly ffmpeg: string;
  readonly cores: number;
  readonly folder: string;
  /** With the built-in pack. */
  readonly inference: Inference;
  readonly runs: number;
}

interface Run {
  readonly plain: WorkCost;
  readonly render: WorkCost;
  readonly timings: StageTimings;
}

/** How well the stages overlap: a pipeline is as fast as its slowest stage, if the cores suffice for all of them. */
export async function benchStages(bench: StageBench, clip: PreparedClip): Promise<StageFigures> {
  const runs: Run[] = [];
  for (let run = 0; run < bench.runs; run++) runs.push(await oneRun(bench, clip));
  const of = (measure: (run: Run) => number): number => median(runs.map(measure));
  const stages = {
    graphs: of(({ timings }) => timings.inferMs / 1000),
    pictures: of(({ timings }) => (timings.cropMs + timings.pasteMs) / 1000),
    transcode: of(({ plain }) => plain.wall),
  };
  const [busiest = ['', NaN] as const] = Object.entries(stages).sort(([, a], [, b]) => b - a);
  const cpu = { node: of(({ render }) => render.nodeCpu), media: of(({ render }) => render.mediaCpu) };
  const wall = of(({ render }) => render.wall);
  const middle = runs.find(({ render }) => render.wall === wall) ?? runs[0];
  if (middle === undefined) throw new RangeError('at least one run is needed');
  return {
    picture: `${clip.shape.width}x${clip.shape.height}`,
    seconds: clip.seconds,
    runs: bench.runs,
    render_seconds: wall,
    stage_seconds: stages,
    busiest_stage: busiest[0],
    times_busiest_stage: wall / busiest[1],
    cpu_seconds: cpu,
    bound: Math.max(1, (cpu.node + cpu.media) / bench.cores / busiest[1]),
    timings: middle.timings,
  };
}

async function oneRun({ ffmpeg, folder, inference }: StageBench, clip: PreparedClip): Promise<Run> {
  const plain = await costOfProgram(() => transcode(ffmpeg, clip, path.join(folder, 'transcode.mp4')));
  const { result, cost } = await costIn(processOf(inference), () =>
    renderClip(inference, clip, path.join(folder, 'render.mp4')),
  );
  return { plain, render: cost, timings: result.timings };
}
