import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { type Binaries, readAudio } from '@lipsync/media';
import { type Sound } from './speech';

const PROGRAM = 'pocketsphinx_batch';
const MODEL = '/usr/share/pocketsphinx/model/en-us';
const MISSING =
  `phones are aligned by pocketsphinx, which is missing: install ${PROGRAM} and its American English model ` +
  '(Debian: apt-get install pocketsphinx pocketsphinx-en-us)';
/** The recognizer's frames per second. */
const FRAME_RATE = 100;
const SILENCE = '<sil>';
const DEADLINE_MS = 300_000;

/** The phones of the CMU Pronouncing Dictionary, in the International Phonetic Alphabet. */
const IPA: Readonly<Record<string, string>> = {
  ...{ AA: 'ɑ', AE: 'æ', AH: 'ʌ', AO: 'ɔ', AW: 'aʊ', AY: 'aɪ', EH: 'ɛ', ER: 'ɚ', EY: 'eɪ', IH: 'ɪ', IY: 'i' },
  ...{ OW: 'oʊ', OY: 'ɔɪ', UH: 'ʊ', UW: 'u', B: 'b', CH: 'tʃ', D: 'd', DH: 'ð', F: 'f', G: 'ɡ', HH: 'h' },
  ...{ JH: 'dʒ', K: 'k', L: 'l', M: 'm', N: 'n', NG: 'ŋ', P: 'p', R: 'ɹ', S: 's', SH: 'ʃ', T: 't', TH: 'θ' },
  ...{ V: 'v', W: 'w', Y: 'j', Z: 'z', ZH: 'ʒ' },
};

/**
 * Finds when the sounds of an English recording are heard, of which somebody wrote down the words: pocketsphinx aligns
 * the phones that its dictionary has for them, with pauses between words where it hears some.
 * @throws Error if pocketsphinx is missing, its dictionary lacks a word, or the recording does not fit the words.
 */
export async function alignSounds(
  binaries: Binaries,
  voiceFile: string,
  transcriptFile: string,
): Promise<Sound[]> {
  const words = wordsOf(await readFile(transcriptFile, 'utf8'));
  const dictionary = pronunciations(
    await readFile(path.join(MODEL, 'cmudict-en-us.dict'), 'utf8').catch(missing),
  );
  const unknown = words.filter((word) => !dictionary.has(word));
  if (words.length === 0) throw new Error(`${transcriptFile} has no words`);
  if (unknown.length > 0)
    throw new Error(
      `${transcriptFile} has words that pocketsphinx's dictionary lacks: ${unknown.join(', ')}; ` +
        'write numbers out, and other words as ones that sound alike',
    );
  const samples = await readAudio(binaries, voiceFile, { deadlineMs: DEADLINE_MS });
  const grammar = phoneGrammar(words.map((word) => dictionary.get(word) ?? []));
  const sounds = soundsOf(await recognize(Int16Array.from(samples, to16Bits), grammar));
  if (sounds.length === 0) throw new Error(`${voiceFile} does not say the words of ${transcriptFile}`);
  return sounds;
}

function missing(error: NodeJS.ErrnoException): never {
  throw error.code === 'ENOENT' ? new Error(MISSING) : error;
}

const to16Bits = (sample: number): number => Math.round(Math.min(1, Math.max(-1, sample)) * 0x7fff);

/** Lower case, as in the dictionary; what is neither a letter, a digit nor an apostrophe within a word parts words. */
export function wordsOf(transcript: string): string[] {
  const plain = transcript.normalize('NFC').toLowerCase().replaceAll('’', "'");
  return plain.match(/[\p{L}\p{N}]+(?:'[\p{L}\p{N}]+)*/gu) ?? [];
}

type Phones = readonly string[];

/** The ways to say each word: lines like `read R EH D` and `read(2) R IY D`. */
function pronunciations(dictionary: string): Map<string, Phones[]> {
  const ways = new Map<string, Phones[]>();
  for (const line of dictionary.split('\n')) {
    const [entry = '', ...phones] = line.trim().split(/\s+/);
    const word = entry.replace(/\(\d+\)$/, '');
    ways.set(word, [...(ways.get(word) ?? []), phones]);
  }
  return ways;
}

/**
 * A finite state grammar whose words are single phones, because the program tells the times of words only: each spoken
 * word in one of its ways, silence before and after it or not.
 */
export function phoneGrammar(words: readonly (readonly Phones[])[]): string {
  const transitions: string[] = [];
  let states = 1;
  const step = (from: number, to: number, probability: number, word = ''): number => {
    transitions.push(`TRANSITION ${from} ${to} ${probability} ${word}`.trimEnd());
    return to;
  };
  const pause = (from: number): number => {
    const to = states++;
    step(from, to, 0.5);
    return step(from, to, 0.5, SILENCE);
  };
  let at = pause(0);
  for (const ways of words) {
    const end = states++;
    for (const phones of ways)
      phones.reduce(
        (from, phone, i) =>
          step(from, i === phones.length - 1 ? end : states++, i === 0 ? 1 / ways.length : 1, phone),
        at,
      );
    at = pause(end);
  }
  const head = ['FSG_BEGIN phones', `NUM_STATES ${states}`, 'START_STATE 0', `FINAL_STATE ${at}`];
  return [...head, ...transitions, 'FSG_END', ''].join('\n');
}

/** The recognizer's line about 16-bit samples at 16 kHz. */
async function recognize(samples: Int16Array, grammar: string): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'aligned-speech-'));
  const file = (name: string): string => path.join(folder, name);
  try {
    await Promise.all([
      writeFile(file('voice.raw'), samples),
      writeFile(file('voice.fsg'), grammar),
      writeFile(file('voices'), 'voice\n'),
      writeFile(
        file('phones.dict'),
        Object.keys(IPA)
          .map((phone) => `${phone} ${phone}\n`)
          .join(''),
      ),
    ]);
    const given = [
      '-hmm',
      path.join(MODEL, 'en-us'),
      '-dict',
      file('phones.dict'),
      '-fsg',
      file('voice.fsg'),
    ];
    const input = ['-ctl', file('voices'), '-cepdir', folder, '-cepext', '.raw', '-adcin', 'yes'];
    // Nothing may be left out of the recording, or times would shift.
    const whole = ['-remove_silence', 'no', '-fsgusefiller', 'no', '-cmn', 'batch', '-bestpath', 'no'];
    // The words are known, so wide beams cost little.
    const beams = ['-beam', '1e-80', '-pbeam', '1e-80', '-wbeam', '1e-60', '-maxhmmpf', '-1'];
    const output = ['-hypseg', file('segments')];
    await promisify(execFile)(PROGRAM, [...given, ...input, ...whole, ...beams, ...output], {
      timeout: DEADLINE_MS,
      maxBuffer: 2 ** 28,
    }).catch(missing);
    return await readFile(file('segments'), 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Takes `NAME S x T x A x L x`, then first frame, two scores and name of every segment, then the last frame; nothing
 * follows the name's line where no way through the grammar was found. A step without a phone belongs to the one before.
 */
export function soundsOf(line: string): Sound[] {
  const fields = line.trim().split(' ').slice(9);
  const end = Number(fields.pop()) + 1;
  const segments = Array.from({ length: Math.floor(fields.length / 4) }, (_, i) => ({
    from: Number(fields[4 * i]),
    phone: fields[4 * i + 3] ?? '',
  })).filter(({ phone }) => phone !== '(NULL)');
  return segments.flatMap(({ from, phone }, i) => {
    const ipa = IPA[phone];
    const to = segments[i + 1]?.from ?? end;
    return ipa === undefined ? [] : [{ ipa, start: from / FRAME_RATE, end: to / FRAME_RATE }];
  });
}
