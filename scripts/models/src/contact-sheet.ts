import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Engine, ENGINES } from '@lipsync/contract';
import { framesOf, secondsAt, timelineOf } from '@lipsync/domain';
import { type FaceTrack, LANDMARK_VALUES, MOUTH } from '@lipsync/engines';
import {
  DEFAULT_PACKS_DIR,
  parseEngines,
  parseWhole,
  runProgram,
  SAMPLE_AUDIO,
  SAMPLE_VIDEO,
} from '@lipsync/local-stack';
import { AUDIO_SAMPLE_RATE, deinterlaced, readAudio } from '@lipsync/media';
import { Command, Option } from 'commander';
import { framesInARow, spreadMoments, tellingMoments } from './articulation/moments';
import { knownSounds } from './articulation/speech';
import { DEADLINE_MS, withWorkplace, type Workplace } from './workplace';

interface Options {
  video: string;
  audio: string;
  engines: Engine[];
  out: string;
  crop: 'face' | 'mouth';
  consecutive?: number;
  from: number;
  packsDir: string;
}

/** `npm run contact-sheet`: writes a picture, prints one JSON object that says what is where in it. */
const program = new Command('contact-sheet')
  .description(
    'One picture of a clip and its renders: a row for the source and for each engine, a column for each moment. ' +
      'The moments are a closure, u, i, a, teeth on the lip, and silence, where a file beside the voice tells the ' +
      'times of its sounds (speech.json beside speech.wav); else they are evenly spread.',
  )
  .option('--video <file>', 'a face', SAMPLE_VIDEO)
  .option('--audio <file>', 'the voice', SAMPLE_AUDIO)
  .addOption(
    new Option('--engines <names>', 'engines to render with, separated by commas')
      .argParser(parseEngines)
      .default([...ENGINES], ENGINES.join(',')),
  )
  .option('--out <file>', 'the picture, JPEG or PNG', 'contact-sheet.jpg')
  .addOption(new Option('--crop <part>', 'what to show').choices(['face', 'mouth']).default('face'))
  .option('--consecutive <frames>', 'so many frames in a row instead of chosen moments', parseWhole)
  .option('--from <second>', 'where the frames in a row begin', Number, 0)
  .option('--packs-dir <dir>', 'folder of model packs', DEFAULT_PACKS_DIR)
  .action(async (options: Options) => {
    const sheet = await withWorkplace(options, (place) => makeContactSheet(place, options));
    console.log(JSON.stringify(sheet, null, 2));
  });

async function makeContactSheet(
  { binaries, inference, folder, analyze }: Workplace,
  options: Options,
): Promise<object> {
  const [videoPath, audioPath] = [path.resolve(options.video), path.resolve(options.audio)];
  // Back and forth where the voice is longer, so that the source never jumps.
  const syncMode = 'bounce';
  const { video, track, trackPath } = await analyze(videoPath);
  const pcm = await readAudio(binaries, audioPath, { deadlineMs: DEADLINE_MS });
  const { sources, clock } = timelineOf(syncMode, track.clock, pcm.length / AUDIO_SAMPLE_RATE);
  const sounds = await knownSounds(audioPath);
  const moments =
    options.consecutive !== undefined
      ? framesInARow(options.from, options.consecutive, clock)
      : sounds !== null
        ? tellingMoments(sounds, clock)
        : spreadMoments(framesOf(clock));
  const sourceFrames = moments.map(({ frame }) => sources[frame] ?? 0);
  const squares = sourceFrames.map((frame) => squareOf(track, frame, options.crop));
  const rows = [
    {
      name: 'source',
      file: videoPath,
      filters: deinterlaced(video),
      seconds: sourceFrames.map((frame) => secondsAt(track.clock, pictureOf(track, frame))),
    },
  ];
  for (const engine of options.engines) {
    const outputPath = path.join(folder, `${engine}.mp4`);
    await inference.render({
      engine,
      syncMode,
      videoPath,
      audioPath,
      outputPath,
      faceTrackPath: trackPath,
    });
    const seconds = moments.map(({ frame }) => secondsAt(clock, frame));
    rows.push({ name: engine, file: outputPath, filters: [], seconds });
  }
  const out = path.resolve(options.out);
  await mkdir(path.dirname(out), { recursive: true });
  await compose(binaries.ffmpeg, rows, squares, out);
  return { out, rows: rows.map(({ name }) => name), columns: moments };
}

/** The frame with which the picture of a frame appears. */
function pictureOf({ held }: FaceTrack, frame: number): number {
  let first = frame;
  while (held[first] === 1) first--;
  return first;
}

interface Square {
  readonly x: number;
  readonly y: number;
  readonly side: number;
}

/** Side of what is shown, of the larger extent of the landmarks in it. */
const MARGIN = { face: 1.35, mouth: 1.7 };

/** The square around the face or the mouth, in a picture that may have to be enlarged for it. */
function squareOf(track: FaceTrack, frame: number, crop: Options['crop']): Square {
  const { width, height } = track;
  if (track.found[frame] !== 1) return { x: 0, y: 0, side: Math.min(width, height) };
  const [first, end] = crop === 'face' ? [0, LANDMARK_VALUES / 2] : MOUTH;
  const points = track.landmarks.subarray(
    frame * LANDMARK_VALUES + 2 * first,
    frame * LANDMARK_VALUES + 2 * end,
  );
  const [xs, ys] = [points.filter((_, i) => i % 2 === 0), points.filter((_, i) => i % 2 === 1)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const wanted = MARGIN[crop] * Math.max(right - left, bottom - top);
  const side = Math.round(Math.min(wanted, width, height));
  const place = (from: number, to: number, size: number): number =>
    Math.round(Math.min(size - side, Math.max(0, (from + to - side) / 2)));
  return { x: place(left, right, width), y: place(top, bottom, height), side };
}

/** Side of a cell in pixels. */
const CELL = 220;

/** Seconds by which a picture's time in a file may differ from its time on the clock; pictures are further apart. */
const TOLERANCE = 0.002;

async function compose(
  ffmpeg: string,
  rows: readonly { file: string; filters: readonly string[]; seconds: readonly number[] }[],
  squares: readonly Square[],
  out: string,
): Promise<void> {
  const cell = (row: number, column: number): string => `[r${row}c${column}]`;
  const graph = rows.flatMap(({ filters, seconds }, row) => {
    const cells = seconds.map((_, column) => cell(row, column)).join('');
    const cuts = seconds.map((second, column) => {
      const { x, y, side } = squares[column] ?? { x: 0, y: 0, side: CELL };
      const cut = `crop=${side}:${side}:${x}:${y},scale=${CELL}:${CELL}:flags=lanczos,setsar=1`;
      const span = `${second - TOLERANCE}\\,${second + TOLERANCE}`;
      return `[s${row}c${column}]select=between(t\\,${span}),setpts=0,${cut}${cell(row, column)}`;
    });
    const split = seconds.map((_, column) => `[s${row}c${column}]`).join('');
    const beside = seconds.length === 1 ? 'null' : `hstack=inputs=${seconds.length}`;
    return [
      `[${row}:v:0]${[...filters, 'setpts=PTS-STARTPTS', `split=${seconds.length}`].join()}${split}`,
      ...cuts,
      `${cells}${beside}[row${row}]`,
    ];
  });
  const below = `${rows.map((_, row) => `[row${row}]`).join('')}vstack=inputs=${rows.length}[sheet]`;
  await promisify(execFile)(ffmpeg, [
    // A moment at which a file has no picture leaves no sheet, which is no success.
    ...['-nostdin', '-v', 'error', '-y', '-abort_on', 'empty_output'],
    ...rows.flatMap(({ file }) => ['-i', file]),
    ...['-filter_complex', [...graph, below].join(';'), '-map', '[sheet]'],
    ...['-frames:v', '1', '-q:v', '3', out],
  ]);
}

runProgram(program);
