import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { decodeFaceTrack, type FaceTrack } from '@lipsync/engines';
import { startInference } from '@lipsync/gpu-worker';
import { DEFAULT_PACKS_DIR, runProgram, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { type Binaries, probe, resolveBinaries } from '@lipsync/media';
import { Command } from 'commander';
import { compareTracks, jitterOf } from './landmarks/compare-tracks';
import { paintedTrack } from './landmarks/painted-face';
import { secondOpinion } from './landmarks/second-network';

interface Options {
  video: string[];
  second?: string;
  packsDir: string;
}

/** `npm run measure:landmarks`: prints one JSON object. */
const program = new Command('measure:landmarks')
  .description(
    'How well does the face analyzer place the points by which faces are cut out, and what does that do to the crops? ' +
      'Compares it with the sample face as it was painted, and on other videos with a second network.',
  )
  .option(
    '--video <file>',
    'a video of a face, may be repeated: jitter, and with --second the difference',
    (file: string, files: string[]) => [...files, file],
    [],
  )
  .option('--second <file>', 'peppa_slim_160.onnx of Peppa-Facial-Landmark')
  .option('--packs-dir <dir>', 'folder of model packs', DEFAULT_PACKS_DIR)
  .action(async (options: Options) => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    const binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
    console.log(JSON.stringify(await measureLandmarks(binaries, options), rounded, 2));
  });

async function measureLandmarks(binaries: Binaries, { video, second, packsDir }: Options): Promise<unknown> {
  const scratch = await mkdtemp(path.join(tmpdir(), 'measure-landmarks-'));
  const inference = await startInference({ packsDir });
  const trackOf = async (file: string): Promise<FaceTrack> => {
    const trackPath = path.join(scratch, 'face.track');
    await inference.analyze({ videoPath: file, trackPath });
    return decodeFaceTrack(await readFile(trackPath));
  };
  try {
    const sample = await trackOf(SAMPLE_VIDEO);
    const videos: Record<string, unknown> = {};
    for (const file of video.map((each) => path.resolve(each))) {
      const track = await trackOf(file);
      const opinion = second && (await secondOpinion(binaries, second, await probed(binaries, file), track));
      videos[path.basename(file)] = {
        found: track.found.reduce((sum, each) => sum + each, 0) / track.frames,
        jitter: jitterOf(track),
        ...(opinion && { second_jitter: jitterOf(opinion), against_second: compareTracks(track, opinion) }),
      };
    }
    return {
      analyzer: sample.analyzerVersion,
      painted: { ...compareTracks(sample, paintedTrack()), jitter: jitterOf(sample) },
      ...(video.length === 0 ? {} : { videos }),
    };
  } finally {
    inference.close();
    await rm(scratch, { recursive: true, force: true });
  }
}

async function probed(binaries: Binaries, file: string) {
  const found = await probe(binaries, file, { mediaType: 'video', deadlineMs: 60_000 });
  if (found.video === undefined) throw new Error(`${file} has no picture`);
  return { file, probed: found.video };
}

const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' ? Number(value.toFixed(2)) : value;

runProgram(program);
