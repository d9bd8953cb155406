import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Engine } from '@lipsync/contract';
import { type Inference, startInference } from '@lipsync/gpu-worker';
import { machine, median } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { packVersion } from '@lipsync/model-pack';
import { type Clip, isolatePack, makeClip } from '@lipsync/models';
import { Command } from 'commander';
import { type PacksToBench, packsToBench, withPacks } from './packs-to-bench';

/** `npm run bench:preparation`: prints one JSON object. */
const program = withPacks(
  new Command('bench:preparation').description('The time that a preparation saves, for every engine pack.'),
  async (packs) => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
    const preparation = await benchPreparation(ffmpeg, packs);
    console.log(JSON.stringify({ machine: machine(), preparation_720p: preparation }, null, 2));
  },
);

interface RenderCost {
  /** From the start of the task to the finished file, including the analysis; median of the runs. */
  seconds: number;
  analyse_seconds: number;
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

const CLIP = { width: 1280, height: 720, grain: 4 };
const RUNS = 3;

/** Renders one 720p clip with every requested engine pack, with and without the results of a preparation. */
async function benchPreparation(ffmpeg: string, options: PacksToBench): Promise<PreparationFigures[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'bench-preparation-'));
  try {
    const clip = await makeClip(ffmpeg, folder, { ...CLIP, seconds: options.seconds });
    const figures: PreparationFigures[] = [];
    for (const { pack, analyzerDir } of await packsToBench(options)) {
      const { manifest } = pack;
      const { engine } = manifest;
      const own = await mkdtemp(path.join(folder, 'packs-'));
      await isolatePack(own, { pack, manifest, analyzerDir });
      const inference = await startInference({ packsDir: own });
      try {
        const figure = {
          engine,
          pack: packVersion(pack),
          ...(await benchEngine(inference, engine, clip, own)),
        };
        console.error(JSON.stringify(figure));
        figures.push(figure);
      } finally {
        inference.close();
      }
    }
    return figures;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

type Measured = Omit<PreparationFigures, 'engine' | 'pack'>;

async function benchEngine(
  inference: Inference,
  engine: Engine,
  { videoFile, audioFile }: Clip,
  folder: string,
): Promise<Measured> {
  const at = (name: string): string => path.join(folder, `${engine}-${name}`);
  const trackPath = at('track.bin');
  const featuresPath = at('features.bin');
  const task = { videoPath: videoFile, trackPath, engines: [{ engine, featuresPath }] };
  const files = { engine, videoPath: videoFile, audioPath: audioFile, syncMode: 'cut_off' } as const;
  const renderPlainly = () =>
    inference.render({ ...files, outputPath: at('plain.mp4'), featuresPath: at(`${randomUUID()}.bin`) });
  const renderPrepared = () =>
    inference.render({ ...files, outputPath: at('prepared.mp4'), faceTrackPath: trackPath, featuresPath });

  const preparation = await inference.analyze(task);
  // Loads the graphs, which are then loaded for the measurement, as in a worker between two jobs.
  await renderPlainly();
  const plain: Rendered[] = [];
  const prepared: Rendered[] = [];
  for (let run = 0; run < RUNS; run++) {
    plain.push(await renderPlainly());
    prepared.push(await renderPrepared());
  }
  const [without, with_] = [costOf(plain), costOf(prepared)];
  return {
    preparation_seconds: preparation.timings.totalMs / 1000,
    prepared_frames: preparation.featuresAdded[engine] ?? 0,
    without,
    with: with_,
    with_over_without: with_.seconds / without.seconds,
  };
}

type Rendered = Awaited<ReturnType<Inference['render']>>;

function costOf(runs: readonly Rendered[]): RenderCost {
  const seconds = ({ analysis, timings }: Rendered): number =>
    ((analysis?.timings.totalMs ?? 0) + timings.totalMs) / 1000;
  return {
    seconds: median(runs.map(seconds)),
    analyse_seconds: median(runs.map(({ analysis }) => (analysis?.timings.analyseMs ?? 0) / 1000)),
    // The maximum over all runs, so that a single run of the detector would show.
    detector_runs: Math.max(...runs.map((run) => (run.analysis?.detectorRuns ?? 0) + run.detectorRuns)),
    frames_encoded: Math.max(...runs.map(({ featuresAdded }) => featuresAdded)),
  };
}

program.parseAsync().catch((error: unknown) => {
  console.error(`bench:preparation: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
