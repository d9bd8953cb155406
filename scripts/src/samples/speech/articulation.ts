import { LEAD_IN, type Onset, type Phrase, type Syllable, type Vowel } from './utterance';

/** Settings of the synthesiser at one moment. */
export interface Articulation {
  /** Levels of the vibrating glottis and of turbulent air, 0..1. */
  readonly voice: number;
  readonly breath: number;
  /** Pitch in hertz. */
  readonly pitch: number;
  /** Centres of the four formants in hertz. */
  readonly formants: readonly [number, number, number, number];
}

/** Formants of an adult voice (after Peterson and Barney). */
const VOWELS: Readonly<Record<Vowel, Articulation['formants']>> = {
  a: [760, 1220, 2550, 3500],
  e: [530, 1850, 2500, 3500],
  i: [300, 2250, 2980, 3600],
  o: [520, 880, 2450, 3400],
  u: [330, 820, 2300, 3300],
};

/** Resonators in series pass open vowels much louder than a real mouth does; this compensates most of it. */
const LEVELS: Readonly<Record<Vowel, number>> = { a: 0.85, e: 1.5, o: 0.95, i: 1.5, u: 1.1 };

/** Length of each onset in seconds, its levels, and where its formants start. */
const ONSETS: Readonly<
  Record<Onset, { seconds: number; voice: number; breath: number; formants: Articulation['formants'] }>
> = {
  plosive: { seconds: 0.06, voice: 0, breath: 0, formants: [300, 1300, 2400, 3400] },
  nasal: { seconds: 0.07, voice: 0.3, breath: 0, formants: [270, 1100, 2200, 3300] },
  fricative: { seconds: 0.08, voice: 0, breath: 0.35, formants: [350, 1700, 2700, 3700] },
  glide: { seconds: 0.06, voice: 0.4, breath: 0, formants: [320, 1500, 2500, 3500] },
};

const REST: Articulation = { voice: 0, breath: 0, pitch: 120, formants: VOWELS.e };

/** Total length of an utterance in seconds, lead-in and last pause included. */
export function utteranceSeconds(phrases: readonly Phrase[]): number {
  return phrases.reduce((sum, phrase) => sum + phraseSeconds(phrase) + phrase.pause, LEAD_IN);
}

/** The mouth's state at a given time. */
export function articulationAt(phrases: readonly Phrase[], seconds: number): Articulation {
  let start = LEAD_IN;
  for (const phrase of phrases) {
    const length = phraseSeconds(phrase);
    if (seconds >= start && seconds < start + length) return phraseAt(phrase, seconds - start, length);
    start += length + phrase.pause;
  }
  return REST;
}

const phraseSeconds = (phrase: Phrase): number =>
  phrase.syllables.reduce((sum, { duration }) => sum + duration, 0);

function phraseAt(phrase: Phrase, seconds: number, length: number): Articulation {
  // The pitch starts high and falls over a phrase, as in a statement.
  const pitch = 138 - 38 * (seconds / length) + 4 * Math.sin(seconds * 31);
  let start = 0;
  for (const syllable of phrase.syllables) {
    if (seconds < start + syllable.duration) return syllableAt(syllable, seconds - start, pitch);
    start += syllable.duration;
  }
  return REST;
}

function syllableAt(
  { onset, vowel, duration, stress }: Syllable,
  seconds: number,
  pitch: number,
): Articulation {
  const { seconds: onsetSeconds, voice, breath, formants: from } = ONSETS[onset];
  const into = smooth((seconds - onsetSeconds) / 0.045);
  const release = smooth((duration - seconds) / 0.05);
  const target = VOWELS[vowel];
  const level = stress * LEVELS[vowel] * release;
  // The air that bursts out when closed lips open.
  const burst = onset === 'plosive' ? 0.5 * Math.exp(-(((seconds - onsetSeconds) / 0.008) ** 2)) : 0;
  return {
    voice: (voice * smooth(seconds / 0.02) * (1 - into) + into) * level,
    breath: breath * smooth(seconds / 0.03) * (1 - into) * stress + burst * stress + 0.012 * level,
    pitch: pitch * (1 + 0.08 * (stress - 0.8)),
    formants: [
      from[0] + (target[0] - from[0]) * into,
      from[1] + (target[1] - from[1]) * into,
      from[2] + (target[2] - from[2]) * into,
      from[3] + (target[3] - from[3]) * into,
    ],
  };
}

function smooth(t: number): number {
  const clamped = Math.min(1, Math.max(0, t));
  return clamped * clamped * (3 - 2 * clamped);
}
