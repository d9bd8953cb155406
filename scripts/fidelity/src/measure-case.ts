import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type LipSync, RenderFailed, type RenderRecord } from '@lipsync/client';
import { type Engine } from '@lipsync/contract';
import { type Case, DEFAULT_VOICE } from './cases';
import { factsOf, type SoundFacts, type VideoFacts } from './facts';
import { codesIn, combing, compareOutside, lumaAt, numbersIn, timesIn } from './pictures';
import { faceArea, makeScene, pannedArea, rampArea } from './scene';
import { comparePictures, expectedShowings, type PictureFigures, type Showing, showingsOf } from './showings';
import { compareSound, secondsOf, type SoundComparison } from './sound';
import { makeVoice } from './voices';

/** What became of one case with one engine. */
export interface Fidelity {
  readonly case: string;
  readonly engine: Engine;
  /** The code of the error if there is no output. */
  readonly error?: string;
  readonly source: { readonly video?: VideoFacts; readonly sound?: SoundFacts };
  readonly output?: OutputFigures;
}

export interface OutputFigures {
  readonly video?: VideoFacts;
  readonly sound?: SoundFacts & SoundComparison;
  readonly pictures: PictureFigures;
  /** The mean of up to eight pictures, outside all that an engine may change; absent where none can be compared. */
  readonly outside_face?: { readonly psnr_db: number; readonly ssim: number; readonly wanted_db: number };
  /** The largest part of a picture whose rows stand out from their neighbors; that of the source before it was woven. */
  readonly combing: { readonly source: number; readonly output: number };
  /** Codes of luma in the ramp of a picture. */
  readonly luma_codes: { readonly source: number; readonly output: number };
}

/** Pictures that are compared. */
const COMPARED = 8;
/** The PSNR that is wanted where a case does not say it. */
const PSNR_DB = 50;

/** Makes the source, renders it with all engines at once, and reads the results back. */
export async function measureCase(
  api: LipSync,
  each: Case,
  { engines, folder }: { engines: readonly Engine[]; folder: string },
): Promise<Fidelity[]> {
  const { name, container = 'mp4', scene, voice = DEFAULT_VOICE, syncMode = 'cut_off', rate } = each;
  await mkdir(folder, { recursive: true });
  const stem = join(folder, name.replaceAll(/[^\w.]+/g, '-'));
  const video = `${stem}.${container}`;
  const original = await makeScene(video, scene);
  const audio = await makeVoice(`${stem}.voice`, voice);
  const source = await factsOf(video);
  const { sound } = await factsOf(audio);
  const filmed = await picturesOf(original, rate);
  const expected = expectedShowings(filmed.showings, syncMode, await secondsOf(audio));

  const record = await render(api, { video, audio, engines, sync_mode: syncMode });
  const results: Fidelity[] = [];
  for (const engine of engines) {
    const said = { case: name, engine, source: { ...source, ...(sound && { sound }) } };
    const error = record.engines?.find((run) => run.engine === engine)?.error ?? record.error;
    if (error !== undefined) {
      results.push({ ...said, error: error.code });
      continue;
    }
    const file = `${stem}.${engine}.mp4`;
    await api.outputs.download(record, engine, file);
    results.push({
      ...said,
      output: await readBack(file, each, { audio, original, video, filmed, expected }),
    });
  }
  return results;
}

async function render(
  api: LipSync,
  request: Parameters<LipSync['renders']['create']>[0],
): Promise<RenderRecord> {
  const { id } = await api.renders.create(request);
  return api.renders.wait(id).catch((error: unknown) => {
    if (error instanceof RenderFailed) return error.record;
    throw error;
  });
}

interface Filmed {
  readonly numbers: readonly number[];
  readonly showings: readonly Showing[];
}

/** A file's pictures; those of a constant rate at its own times, whatever the container's ticks made of them. */
async function picturesOf(path: string, rate?: string): Promise<Filmed> {
  const numbers = await numbersIn(path);
  const { starts, end } = await timesIn(path);
  if (starts.length !== numbers.length)
    throw new Error(`${path} has ${numbers.length} pictures and ${starts.length} times`);
  if (rate === undefined) return { numbers, showings: showingsOf(numbers, starts, end) };
  const [num = 1, den = 1] = rate.split('/').map(Number);
  const exact = numbers.map((_, i) => (i * den) / num);
  return { numbers, showings: showingsOf(numbers, exact, (numbers.length * den) / num) };
}

interface Origin {
  readonly audio: string;
  /** The file that the pictures and times are those of. */
  readonly original: string;
  /** The file that was rendered. */
  readonly video: string;
  readonly filmed: Filmed;
  readonly expected: readonly Showing[];
}

async function readBack(
  file: string,
  { scene, reference, psnrDb = PSNR_DB }: Case,
  origin: Origin,
): Promise<OutputFigures> {
  const { audio, original, video, filmed, expected } = origin;
  const { video: videoFacts, sound } = await factsOf(file);
  const shown = await picturesOf(file);
  const width = Number(videoFacts?.size.split('x')[0]) & ~1;

  const source = reference === undefined ? filmed.numbers : await numbersIn(video, reference);
  const numbers = evenly(
    [...new Set(shown.numbers)].filter(
      (number) => source.includes(number) && filmed.numbers.includes(number),
    ),
    COMPARED,
  ).sort((a, b) => a - b);
  const at = (list: readonly number[]): number[] => numbers.map((number) => list.indexOf(number));
  const outputs = await lumaAt(file, at(shown.numbers), width);
  const references = await lumaAt(video, at(source), width, reference);
  const originals = original === video ? references : await lumaAt(original, at(filmed.numbers), width);
  const panned = pannedArea(scene);
  const codes = ([picture]: typeof outputs): number =>
    picture === undefined ? 0 : codesIn(picture, rampArea(scene));
  const voiceFacts = (await factsOf(audio)).sound;
  return {
    ...(videoFacts && { video: videoFacts }),
    ...(sound &&
      voiceFacts && {
        sound: {
          ...sound,
          ...(await compareSound(
            { path: audio, channels: voiceFacts.channels },
            { path: file, channels: sound.channels },
          )),
        },
      }),
    pictures: comparePictures(expected, shown.showings),
    ...(numbers.length > 0 && {
      outside_face: {
        ...compareOutside(
          outputs.flatMap((output, i) => (references[i] ? [[output, references[i]] as const] : [])),
          faceArea(scene),
        ),
        wanted_db: psnrDb,
      },
    }),
    combing: { source: combing(originals, panned), output: combing(outputs, panned) },
    luma_codes: { source: codes(references), output: codes(outputs) },
  };
}

function evenly<T>(values: readonly T[], count: number): T[] {
  const step = Math.max(1, values.length / count);
  return Array.from(
    { length: Math.min(count, values.length) },
    (_, i) => values[Math.floor(i * step)],
  ).filter((value) => value !== undefined);
}
