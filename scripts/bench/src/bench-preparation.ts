import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type Inference, startInference } from '@lipsync/gpu-worker';
import { median, runProgram } from '@lipsync/local-stack';
import { packVersion } from '@lipsync/model-pack';
import { isolatePack } from '@lipsync/models';
import { packBench, type PackToBench } from './pack-bench';

interface RenderCost {
  /** From the start of the task to the finished file, including the analysis; median of the runs. */
  seconds: number;
  analyze_seconds: number;
  /** Counted inside the inference process. */
  detector_runs: number;
  /** Number of source frames that the engine encoded because their features were not stored. */
  frames_encoded: number;
}

interface PreparationFigures {
  engine: Engine;
  pack: string;
  /** Duration of the preparation itself, and the number of frames whose features are stored (built-in packs: none). */
  preparation_seconds: number;
  prepared_frames: number;
  without: RenderCost;
  with: RenderCost;
  /** Duration of a render with the preparation divided by one without, run alternately in the same process. */
  with_over_without: number;
}

const RUNS = 3;

/** `npm run bench:preparation` */
runProgram(
  packBench(
    {
      name: 'bench:preparation',
      description: 'The time that a preparation saves, for every engine pack.',
      key: 'preparation_720p',
    },
    benchPreparation,
  ),
);

/** Renders the clip with and without the results of a preparation. */
async function* benchPreparation({
  pack,
  analyzerDir,
  clip: { videoFile, audioFile },
  folder,
}: PackToBench): AsyncGenerator<PreparationFigures> {
  const { manifest } = pack;
  const { engine } = manifest;
  const own = await mkdtemp(path.join(folder, 'packs-'));
  await isolatePack(own, { pack, manifest, beside: analyzerDir });
  const at = (name: string): string => path.join(own, name);
  const trackPath = at('track.bin');
  const featuresPath = at('features.bin');
  const files = { engine, videoPath: videoFile, audioPath: audioFile, syncMode: 'cut_off' } as const;
  const inference = await startInference({ packsDir: own });
  const renderPlainly = () =>
    inference.render({ ...files, outputPath: at('plain.mp4'), featuresPath: at(`${randomUUID()}.bin`) });
  const renderPrepared = () =>
    inference.render({ ...files, outputPath: at('prepared.mp4'), faceTrackPath: trackPath, featuresPath });
  try {
    const preparation = await inference.analyze({
      videoPath: videoFile,
      trackPath,
      engines: [{ engine, featuresPath }],
    });
    // Loads the graphs, which are then loaded for the measurement, as in a worker between two jobs.
    await renderPlainly();
    const plain: Rendered[] = [];
    const prepared: Rendered[] = [];
    for (let run = 0; run < RUNS; run++) {
      plain.push(await renderPlainly());
      prepared.push(await renderPrepared());
    }
    const [without, with_] = [costOf(plain), costOf(prepared)];
    yield {
      engine,
      pack: packVersion(pack),
      preparation_seconds: preparation.timings.totalMs / 1000,
      prepared_frames: preparation.featuresAdded[engine] ?? 0,
      without,
      with: with_,
      with_over_without: with_.seconds / without.seconds,
    };
  } finally {
    inference.close();
  }
}

type Rendered = Awaited<ReturnType<Inference['render']>>;

function costOf(runs: readonly Rendered[]): RenderCost {
  const seconds = ({ analysis, timings }: Rendered): number =>
    ((analysis?.timings.totalMs ?? 0) + timings.totalMs) / 1000;
  return {
    seconds: median(runs.map(seconds)),
    analyze_seconds: median(runs.map(({ analysis }) => (analysis?.timings.analyzeMs ?? 0) / 1000)),
    // The maximum over all runs, so that a single run of the detector would show.
    detector_runs: Math.max(...runs.map((run) => (run.analysis?.detectorRuns ?? 0) + run.detectorRuns)),
    frames_encoded: Math.max(...runs.map(({ featuresAdded }) => featuresAdded)),
  };
}
