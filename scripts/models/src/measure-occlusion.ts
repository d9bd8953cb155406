import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Engine, ENGINES } from '@lipsync/contract';
import {
  DEFAULT_PACKS_DIR,
  parseEngines,
  printFigures,
  runProgram,
  SAMPLE_VIDEO,
} from '@lipsync/local-stack';
import { Command, Option } from 'commander';
import {
  type CleanFace,
  measureCleanFace,
  measureOccluder,
  type OccluderFigures,
} from './occlusion/measure-occluder';
import { CLIP_SECONDS, OCCLUDERS } from './occlusion/occluders';
import { occlusionSummary } from './occlusion/summary';
import { withWorkplace, type Workplace } from './workplace';

interface Options {
  engines: Engine[];
  face: string[];
  occluders: string[];
  packsDir: string;
  keep?: string;
}

const NAMES = OCCLUDERS.map(({ name }) => name);

function parseOccluders(text: string): string[] {
  const names = text.split(',');
  const unknown = names.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) throw new Error(`${unknown} is none of ${NAMES.join(', ')}`);
  return names;
}

/** `npm run measure:occlusion`: prints one JSON object. */
const program = new Command('measure:occlusion')
  .description(
    'Does what is before a mouth stay before it? Draws hands, microphones, cups … over faces, renders that, and compares.',
  )
  .addOption(
    new Option('--engines <names>', 'engines to render with, separated by commas')
      .argParser(parseEngines)
      .default([...ENGINES], ENGINES.join(',')),
  )
  .option(
    '--face <file>',
    'a video of a face of four seconds or more, may be repeated; else the sample face',
    (file: string, files: string[]) => [...files, file],
    [],
  )
  .addOption(
    new Option('--occluders <names>', 'what to draw, separated by commas')
      .argParser(parseOccluders)
      .default(NAMES, NAMES.join(',')),
  )
  .option('--packs-dir <dir>', 'folder of model packs', DEFAULT_PACKS_DIR)
  .option('--keep <dir>', 'folder that keeps composed and rendered videos')
  .action(async (options: Options) => {
    printFigures(await withWorkplace(options, (place) => measureOcclusion(place, options)), 4);
  });

async function measureOcclusion(place: Workplace, options: Options): Promise<object> {
  const faces: CleanFace[] = [];
  const clips: OccluderFigures[] = [];
  for (const source of options.face.length > 0 ? options.face : [SAMPLE_VIDEO]) {
    console.error(`${source} with nothing before it …`);
    const file = await fitted(place.binaries.ffmpeg, source, place.folder);
    const face = await measureCleanFace(place, file, options.engines);
    faces.push(face);
    for (const occluder of OCCLUDERS.filter(({ name }) => options.occluders.includes(name))) {
      console.error(`${source} with ${occluder.name} …`);
      clips.push(...(await measureOccluder(place, face, occluder)));
    }
  }
  return { ...occlusionSummary(faces, clips), clips };
}

/** The shorter side of the clips, pixels. */
const SIDE = 480;

/** The beginning of a video, in a size that is quickly drawn over. */
async function fitted(ffmpeg: string, source: string, folder: string): Promise<string> {
  const file = path.join(folder, `${path.parse(source).name}.clean.mp4`);
  const scale = `scale='if(gt(iw,ih),-2,${SIDE})':'if(gt(iw,ih),${SIDE},-2)':flags=lanczos,setsar=1`;
  const input = ['-nostdin', '-v', 'error', '-y', '-i', path.resolve(source), '-t', String(CLIP_SECONDS)];
  const encoder = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '10', '-pix_fmt', 'yuv420p'];
  await promisify(execFile)(ffmpeg, [...input, '-an', '-vf', scale, ...encoder, file]);
  return file;
}

runProgram(program);
