import path from 'node:path';
import { type Inference, type StageTimings } from '@lipsync/gpu-worker';
import { median } from '@lipsync/local-stack';
import { costIn, type PreparedClip, processOf, renderClip, type WorkCost } from './clip';

type Stage = 'decode' | 'crop' | 'infer' | 'paste' | 'encode';

export interface StageFigures {
  picture: string;
  seconds: number;
  runs: number;
  render_seconds: number;
  /**
   * From the render's own clocks: running time of crop, paste and graphs, waiting time for decoder and encoder. Where
   * all stages share the cores, part of that wait is for a core: `times_cores` says whether any core was idle.
   */
  stage_seconds: Record<Stage, number>;
  busiest_stage: Stage;
  /** Wall time of a render divided by that of its busiest stage: 1 when it hides all others. */
  times_busiest_stage: number;
  cpu_seconds: { node: number; media: number };
  /** Share of all cores that went to other work meanwhile. */
  others_share: number;
  /** Wall time of a render divided by its processor time spread evenly over the cores: 1 when no core is ever idle. */
  times_cores: number;
}

interface StageBench {
  readonly cores: number;
  readonly folder: string;
  /** An inference process with the built-in pack. */
  readonly inference: Inference;
  readonly runs: number;
  readonly say: (line: string) => void;
}

interface Run {
  readonly render: WorkCost;
  readonly stages: Record<Stage, number>;
}

/** How well the stages of a render overlap; medians over the runs. */
export async function benchStages(bench: StageBench, clip: PreparedClip): Promise<StageFigures> {
  const runs: Run[] = [];
  for (let run = 0; run < bench.runs; run++) {
    runs.push(await oneRun(bench, clip));
    bench.say(`  round ${run + 1} of ${bench.runs}`);
  }
  const of = (measure: (run: Run) => number): number => median(runs.map(measure));
  const stage = (name: Stage): number => of(({ stages }) => stages[name]);
  const stages = {
    decode: stage('decode'),
    crop: stage('crop'),
    infer: stage('infer'),
    paste: stage('paste'),
    encode: stage('encode'),
  };
  const busiest = busiestOf(stages);
  return {
    picture: `${clip.shape.width}x${clip.shape.height}`,
    seconds: clip.seconds,
    runs: bench.runs,
    render_seconds: of(({ render }) => render.wall),
    stage_seconds: stages,
    busiest_stage: busiest,
    times_busiest_stage: of((run) => run.render.wall / run.stages[busiest]),
    cpu_seconds: { node: of(({ render }) => render.nodeCpu), media: of(({ render }) => render.mediaCpu) },
    others_share: of(({ render }) => render.othersCpu / render.wall / bench.cores),
    times_cores: of(({ render }) => (render.wall * bench.cores) / (render.nodeCpu + render.mediaCpu)),
  };
}

async function oneRun({ folder, inference }: StageBench, clip: PreparedClip): Promise<Run> {
  const { result, cost } = await costIn(processOf(inference), () =>
    renderClip(inference, clip, path.join(folder, 'render.mp4')),
  );
  return { render: cost, stages: stageSeconds(result.timings) };
}

function stageSeconds(timings: StageTimings): Record<Stage, number> {
  return {
    decode: timings.decodeMs / 1000,
    crop: timings.cropMs / 1000,
    infer: timings.inferMs / 1000,
    paste: timings.pasteMs / 1000,
    encode: timings.encodeMs / 1000,
  };
}

function busiestOf(stages: Record<Stage, number>): Stage {
  const names = ['decode', 'crop', 'infer', 'paste', 'encode'] as const;
  return names.reduce((busiest, name) => (stages[name] > stages[busiest] ? name : busiest));
}
