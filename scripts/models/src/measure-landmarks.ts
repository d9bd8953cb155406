import path from 'node:path';
import { DEFAULT_PACKS_DIR, mean, printFigures, runProgram, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { Command } from 'commander';
import { compareTracks, jitterOf } from './landmarks/compare-tracks';
import { paintedTrack } from './landmarks/painted-face';
import { secondOpinion } from './landmarks/second-network';
import { withWorkplace, type Workplace } from './workplace';

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
    printFigures(await withWorkplace(options, (place) => measureLandmarks(place, options)), 3);
  });

async function measureLandmarks(
  { binaries, analyze }: Workplace,
  { video, second }: Options,
): Promise<object> {
  const { track: sample } = await analyze(SAMPLE_VIDEO);
  const videos: Record<string, unknown> = {};
  for (const file of video.map((each) => path.resolve(each))) {
    const clip = await analyze(file);
    const opinion = second && (await secondOpinion(binaries, second, clip));
    videos[path.basename(file)] = {
      found: mean([...clip.track.found]),
      jitter: jitterOf(clip.track),
      ...(opinion && {
        second_jitter: jitterOf(opinion),
        against_second: compareTracks(clip.track, opinion),
      }),
    };
  }
  return {
    analyzer: sample.analyzerVersion,
    painted: { ...compareTracks(sample, paintedTrack()), jitter: jitterOf(sample) },
    ...(video.length === 0 ? {} : { videos }),
  };
}

runProgram(program);
