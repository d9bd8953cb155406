import path from 'node:path';
import { type Inference } from '@lipsync/gpu-worker';
import { type Binaries } from '@lipsync/media';
import { median } from '../median';
import { type PreparedClip } from './prepared-clip';
import { renderClip } from './render-clip';
import { transcode } from './transcode';
import { costIn, costOfProgram, processOf, type WorkCost } from './work-cost';

export interface TranscodeFigures {
  picture: string;
  seconds: number;
  megabits_per_second: number;
  runs: number;
  transcode_seconds: number;
  render_seconds: number;
  /** Wall time of a render over that of the transcode just before it. */
  times_transcode: number;
  cpu_seconds: { transcode: number; render_node: number; render_media: number };
  /** The same ratio of processor time, which other work on the machine disturbs least. */
  times_transcode_cpu: number;
  /** Which part of all cores went to other work, during the transcode and during the render; the wall clock suffers. */
  others_share: { transcode: number; render: number };
  /** The least that `times_transcode` could be with this much work, were it spread evenly over all cores. */
  bound: number;
}

export interface TranscodeBench {
  readonly binaries: Binaries;
  readonly cores: number;
  readonly folder: string;
  /** With the pass-through pack. */
  readonly inference: Inference;
  readonly runs: number;
}

/** What the pipeline costs around the networks: renders and plain transcodes of one clip by turns; medians. */
export async function benchTranscode(bench: TranscodeBench, clip: PreparedClip): Promise<TranscodeFigures> {
  const pairs: { plain: WorkCost; render: WorkCost }[] = [];
  for (let run = 0; run < bench.runs; run++) pairs.push(await onePair(bench, clip));
  const of = (measure: (pair: (typeof pairs)[number]) => number): number => median(pairs.map(measure));
  const cpu = ({ nodeCpu, mediaCpu }: WorkCost): number => nodeCpu + mediaCpu;
  return {
    picture: `${clip.shape.width}x${clip.shape.height}`,
    seconds: clip.seconds,
    megabits_per_second: clip.megabitsPerSecond,
    runs: bench.runs,
    transcode_seconds: of(({ plain }) => plain.wall),
    render_seconds: of(({ render }) => render.wall),
    times_transcode: of(({ plain, render }) => render.wall / plain.wall),
    cpu_seconds: {
      transcode: of(({ plain }) => plain.mediaCpu),
      render_node: of(({ render }) => render.nodeCpu),
      render_media: of(({ render }) => render.mediaCpu),
    },
    others_share: {
      transcode: of(({ plain }) => plain.othersCpu / plain.wall / bench.cores),
      render: of(({ render }) => render.othersCpu / render.wall / bench.cores),
    },
    times_transcode_cpu: of(({ plain, render }) => cpu(render) / cpu(plain)),
    bound: of(({ plain, render }) => cpu(render) / bench.cores / plain.wall),
  };
}

async function onePair({ binaries, folder, inference }: TranscodeBench, clip: PreparedClip) {
  const plain = await costOfProgram(() => transcode(binaries, clip, path.join(folder, 'transcode.mp4')));
  const { cost: render } = await costIn(processOf(inference), () =>
    renderClip(inference, clip, path.join(folder, 'render.mp4')),
  );
  return { plain, render };
}
