import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';

/** One sound of a voice, in seconds. */
export interface Sound {
  /** Its letters in the International Phonetic Alphabet. */
  readonly ipa: string;
  readonly start: number;
  readonly end: number;
}

interface Utterance {
  /** A voice of espeak-ng, with its variant. */
  readonly voice: string;
  readonly rate: number;
  readonly sentences: readonly string[];
  /** Seconds of silence before, between and after the sentences. */
  readonly pause: number;
}

/**
 * Closed lips, teeth on the lip, i, u and a, each beside several others; and t, d, n, k and g, at which the voice stops
 * as it does at p and b, but the lips stay apart.
 */
const ENGLISH = [
  'Papa, Bob, feed me a bean. Mama moved the blue map.',
  'Take a good look, Kate. Five happy beavers view a farm. Boo, do, a garden, bee, baa.',
];
const ITALIAN = [
  'Mamma, papà, una pipa buffa, vivi e bevi.',
  'Che cane, tanti gatti. Fifi fuma, tu ami una pupa. Bimbi, piume, uva.',
];

/** Three voices, none of which is a person's: a man, a woman, and another language. */
export const UTTERANCES: readonly Utterance[] = [
  { voice: 'en-us', rate: 150, sentences: ENGLISH, pause: 0.8 },
  { voice: 'en+f3', rate: 150, sentences: ENGLISH, pause: 0.8 },
  { voice: 'it+m2', rate: 150, sentences: ITALIAN, pause: 0.8 },
];

const SPEAK = path.resolve(__dirname, '../../articulation/speak.py');

/** Speaks into a WAV file, and writes when each sound is heard beside it. Needs python3 and espeak-ng. */
export async function speak(utterance: Utterance, file: string): Promise<Sound[]> {
  const child = spawn('python3', [SPEAK, file], { stdio: ['pipe', 'pipe', 'pipe'] });
  const ended = new Promise<number | null>((resolve, reject) =>
    child.on('error', reject).on('close', resolve),
  );
  child.stdin.end(JSON.stringify(utterance));
  const [status, told, problem] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (status !== 0) throw new Error(`nothing was spoken: ${problem.trim()}`);
  await writeFile(soundsFile(file), told);
  return soundsOf(told);
}

/** Where the times of a voice's sounds are, if they are known: `speech.json` beside `speech.wav`. */
const soundsFile = (audioFile: string): string =>
  `${audioFile.slice(0, -path.extname(audioFile).length)}.json`;

/** The sounds of a voice, if a file beside it tells their times. */
export async function knownSounds(audioFile: string): Promise<Sound[] | null> {
  const file = soundsFile(audioFile);
  return existsSync(file) ? soundsOf(await readFile(file, 'utf8')) : null;
}

const isSound = (value: unknown): value is Sound =>
  typeof value === 'object' &&
  value !== null &&
  'ipa' in value &&
  'start' in value &&
  'end' in value &&
  typeof value.ipa === 'string' &&
  typeof value.start === 'number' &&
  typeof value.end === 'number';

function soundsOf(json: string): Sound[] {
  const told: unknown = JSON.parse(json);
  if (!Array.isArray(told) || !told.every(isSound)) throw new TypeError('a list of sounds was expected');
  return told;
}
