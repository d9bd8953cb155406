import { type Sound } from './speech';

/** What the lips must do for a sound, as far as it is measured; null for sounds that leave it to their neighbors. */
export type Gesture = 'closure' | 'dental' | 'i' | 'u' | 'w' | 'a' | 'open';

/**
 * How far the jaw is down, of the way to an open a: an order that phonetics agrees on, not a measurement. Consonants
 * that are absent leave the jaw almost shut.
 */
const JAW: Readonly<Record<string, number>> = {
  ...{
    i: 0.25,
    y: 0.25,
    ɪ: 0.3,
    ʏ: 0.3,
    ᵻ: 0.3,
    u: 0.2,
    ʊ: 0.3,
    e: 0.45,
    ø: 0.4,
    o: 0.4,
    ə: 0.4,
    ɚ: 0.35,
    ɜ: 0.45,
  },
  ...{ ɛ: 0.6, œ: 0.5, ʌ: 0.65, ɔ: 0.6, æ: 0.8, ɐ: 0.7, a: 1, ɑ: 1, ɒ: 0.85 },
  ...{
    l: 0.3,
    ɹ: 0.25,
    r: 0.25,
    j: 0.25,
    w: 0.2,
    t: 0.2,
    d: 0.2,
    n: 0.2,
    ɾ: 0.2,
    k: 0.25,
    ɡ: 0.25,
    ŋ: 0.25,
    h: 0.35,
    θ: 0.2,
    ð: 0.2,
  },
  ...{ m: 0, p: 0, b: 0, f: 0.1, v: 0.1 },
};
const SHUT = 0.12;
const VOWELS = 'iyɪʏᵻuʊeøoəɚɜɛœʌɔæɐaɑɒ';
/** Vowels that are shorter miss what they aim at (Lindblom 1963, On vowel reduction): seconds. */
const REDUCED = 0.055;
const OPEN_CONSONANTS = 'lɹrjtdnkɡŋhθðɾ';

/** The letters that stand for sounds, without marks of length, stress and the like. */
const lettersOf = ({ ipa }: Sound): string[] =>
  [...ipa.normalize('NFD')].filter((letter) => /\p{Ll}|\p{Lo}/u.test(letter));

export function gestureOf(sound: Sound): Gesture | null {
  const [first, ...more] = lettersOf(sound);
  if (first === undefined) return null;
  if ('mpb'.includes(first)) return 'closure';
  if ('fv'.includes(first)) return 'dental';
  // The halves of a diphthong pull the lips in two directions.
  if (more.length > 0) return VOWELS.includes(first) ? 'open' : null;
  if (first === 'w') return 'w';
  if (VOWELS.includes(first) && sound.end - sound.start < REDUCED) return 'open';
  if (first === 'i') return 'i';
  if (first === 'u') return 'u';
  if ('aɑæ'.includes(first)) return 'a';
  return VOWELS.includes(first) || OPEN_CONSONANTS.includes(first) ? 'open' : null;
}

/** Half of the time in which a jaw moves from one sound to the next: seconds. */
const TRANSITION = 0.06;

/** The jaw's course as a function of time, 0 to 1: each sound's target in turn, smoothed without a delay. */
export function jawCourse(sounds: readonly Sound[]): (second: number) => number {
  const targets = sounds.flatMap((sound) => {
    const letters = lettersOf(sound);
    const share = (sound.end - sound.start) / letters.length;
    return letters.map((letter, i) => ({
      start: sound.start + i * share,
      end: sound.start + (i + 1) * share,
      jaw: JAW[letter] ?? SHUT,
    }));
  });
  return (second) =>
    targets.reduce(
      (sum, { start, end, jaw }) => sum + jaw * (hannShare(end - second) - hannShare(start - second)),
      0,
    );
}

/** The share of a Hann window of ±TRANSITION around 0 that lies before `offset`. */
function hannShare(offset: number): number {
  const x = Math.min(1, Math.max(-1, offset / TRANSITION));
  return (1 + x + Math.sin(Math.PI * x) / Math.PI) / 2;
}
