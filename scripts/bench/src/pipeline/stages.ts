import path from 'node:path';
import { type StageTimings } from '@lipsync/gpu-worker';
import { median } from '@lipsync/local-stack';
import { costIn, type PipelineBench, type PreparedClip, processOf, renderClip, type WorkCost } from './clip';

const STAGES = ['decode', 'crop', 'infer', 'paste', 'encode'] as const;
type Stage = (typeof STAGES)[number];

export interface StageFigures {
  picture: string;
  seconds: number;
  runs: number;
  render_seconds: number;
  /**
   * From the render's own clocks: running time of crop, paste and graphs, waiting time for decoder and encoder. Where
   * all stages share the cores, part of that wait is for a core.
   */
  stage_seconds: Record<Stage, number>;
  busiest_stage: Stage;
  /** Wall time of a render divided by that of its busiest stage: 1 when it hides all others. */
  times_busiest_stage: number;
  cpu_seconds: { node: number; media: number };
  /** Share of all cores that went to other work meanwhile. */
  others_share: number;
}

interface Run {
  readonly render: WorkCost;
  readonly timings: StageTimings;
}

/** How well the stages of a render overlap; medians over the runs. */
export async function benchStages(bench: PipelineBench, clip: PreparedClip): Promise<StageFigures> {
  const runs: Run[] = [];
  for (let run = 0; run < bench.runs; run++) {
    const { result, cost } = await costIn(processOf(bench.inference), () =>
      renderClip(bench.inference, clip, path.join(bench.folder, 'render.mp4')),
    );
    runs.push({ render: cost, timings: result.timings });
    bench.say(`  round ${run + 1} of ${bench.runs}`);
  }
  const of = (measure: (run: Run) => number): number => median(runs.map(measure));
  const secondsIn = ({ timings }: Run, stage: Stage): number => timings[`${stage}Ms`] / 1000;
  const stages = Object.fromEntries(
    STAGES.map((stage) => [stage, of((run) => secondsIn(run, stage))]),
  ) as Record<Stage, number>;
  const busiest = STAGES.reduce((most, stage) => (stages[stage] > stages[most] ? stage : most));
  return {
    picture: `${clip.shape.width}x${clip.shape.height}`,
    seconds: clip.seconds,
    runs: bench.runs,
    render_seconds: of(({ render }) => render.wall),
    stage_seconds: stages,
    busiest_stage: busiest,
    times_busiest_stage: of((run) => run.render.wall / secondsIn(run, busiest)),
    cpu_seconds: { node: of(({ render }) => render.nodeCpu), media: of(({ render }) => render.mediaCpu) },
    others_share: of(({ render }) => render.othersCpu / render.wall / bench.cores),
  };
}
