import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { frameAt } from '@lipsync/domain';
import { type FaceTrack, LANDMARK_VALUES, NOSE_TIP } from '@lipsync/engines';
import { DEFAULT_PACKS_DIR, mean, printFigures, runProgram, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { Command } from 'commander';
import { speak, UTTERANCES } from './articulation/speech';
import { composeScene, LISTENERS, type Scene, SIDE, turnsOf } from './speakers/scenes';
import { withWorkplace, type Workplace } from './workplace';

interface Options {
  face: string[];
  turns: string;
  packsDir: string;
  keep?: string;
}

/** The least share of speaking seconds on the right face. */
const LEAST_RIGHT = 0.95;

/** `npm run measure:speakers`: prints one JSON object. */
const program = new Command('measure:speakers')
  .description(
    'Does the one who speaks get the mouth? Puts talking faces side by side, lets them speak in turns, and looks at the track.',
  )
  .option(
    '--face <file>',
    'a video of somebody who speaks throughout, with the sound, may be repeated; else the sample face as three voices move it',
    (file: string, files: string[]) => [...files, file],
    [],
  )
  .option('--turns <count>', 'turns in every clip, of three seconds', '6')
  .option('--packs-dir <dir>', 'folder of model packs', DEFAULT_PACKS_DIR)
  .option('--keep <dir>', 'folder that keeps the composed videos')
  .action(async (options: Options) => {
    printFigures(await withWorkplace(options, (place) => measureSpeakers(place, options)), 3);
  });

interface SceneFigures {
  readonly faces: readonly string[];
  readonly listener: string;
  /** Share of the speaking seconds in which the track shows the one who speaks. */
  readonly right: number;
  /** The same for the first face only, which is the largest, and for the others. */
  readonly rightOfLargest: number;
  readonly rightOfOthers: number;
  /** How many times as long the analysis takes as with the first face alone. */
  readonly longer: number;
}

async function measureSpeakers(place: Workplace, options: Options): Promise<object> {
  const given = options.face.map((file) => path.resolve(file));
  const faces = given.length > 0 ? given : await drawSpeakers(place);
  const casts = [...pairsOf(faces), ...(faces.length > 2 ? [faces.slice(0, 3)] : [])];
  const clips: SceneFigures[] = [];
  for (const cast of casts)
    for (const listener of LISTENERS) {
      const names = cast.map((file) => path.parse(file).name);
      console.error(`${names.join(', ')}; listeners: ${listener} …`);
      const scene = { faces: cast, listener, turns: Number(options.turns) };
      clips.push(await measureScene(place, names, scene));
    }
  const rightBeside = (listeners: readonly string[]): number =>
    mean(clips.filter(({ listener }) => listeners.includes(listener)).map(({ right }) => right));
  return {
    right: { value: rightBeside(LISTENERS), bound: LEAST_RIGHT },
    right_beside_still_lips: rightBeside(['still']),
    right_beside_moving_lips: rightBeside(['moving']),
    longer: mean(clips.map(({ longer }) => longer)),
    clips,
  };
}

/** Everybody beside everybody else, either of them being the larger one. */
const pairsOf = (faces: readonly string[]): string[][] =>
  faces.flatMap((face, i) => faces.filter((_, k) => k !== i).map((other) => [face, other]));

/** The sample face, as the built-in pack moves it with each of the voices. */
async function drawSpeakers({ binaries, inference, folder }: Workplace): Promise<string[]> {
  const files: string[] = [];
  for (const utterance of UTTERANCES) {
    const name = path.join(folder, utterance.voice.replace('+', '-'));
    const [audioPath, outputPath] = [`${name}.wav`, `${name}.silent.mp4`];
    await speak({ ...utterance, pause: 0.2 }, audioPath);
    await inference.render({
      ...{ engine: 'musetalk', syncMode: 'loop', outputPath, videoPath: SAMPLE_VIDEO, audioPath },
    });
    const file = `${name}.mp4`;
    await promisify(execFile)(binaries.ffmpeg, [
      ...['-nostdin', '-v', 'error', '-y', '-i', outputPath, '-i', audioPath],
      ...['-map', '0:v', '-map', '1:a', '-c:v', 'copy', '-c:a', 'aac', file],
    ]);
    files.push(file);
  }
  return files;
}

async function measureScene(
  { binaries: { ffmpeg }, folder, analyze }: Workplace,
  names: readonly string[],
  scene: Scene,
): Promise<SceneFigures> {
  const stem = path.join(folder, names.join('+'));
  const [video, alone] = [`${stem}.${scene.listener}.mp4`, `${stem}.alone.mp4`];
  await composeScene(ffmpeg, scene, video, true);
  await composeScene(ffmpeg, scene, alone, false);
  const [company, single] = [await analyze(video), await analyze(alone)];
  const shares = scene.faces.map((_, face) => rightShare(company.track, scene, face));
  const right = mean(shares);
  return {
    faces: names,
    listener: scene.listener,
    right,
    rightOfLargest: shares[0] ?? NaN,
    rightOfOthers: mean(shares.slice(1)),
    longer: company.analyzeMs / single.analyzeMs,
  };
}

/** Share of a face's own turns in which the track shows it, in steps of a frame. */
function rightShare(track: FaceTrack, scene: Scene, face: number): number {
  const steps = turnsOf(scene)
    .filter((turn) => turn.face === face)
    .flatMap(({ start, end }) =>
      Array.from({ length: (end - start) * 25 }, (_, i) => start + (i + 0.5) / 25),
    );
  const right = steps.filter((seconds) => {
    const frame = frameAt(track.clock, seconds);
    const x = track.landmarks[frame * LANDMARK_VALUES + NOSE_TIP * 2] ?? NaN;
    return track.found[frame] === 1 && Math.floor(x / SIDE) === face;
  });
  return right.length / steps.length;
}

runProgram(program);
