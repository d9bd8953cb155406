/** What the mouth does before a vowel. */
export type Onset = 'plosive' | 'nasal' | 'fricative' | 'glide';

export type Vowel = 'a' | 'e' | 'i' | 'o' | 'u';

export interface Syllable {
  readonly onset: Onset;
  readonly vowel: Vowel;
  /** Seconds, onset included. */
  readonly duration: number;
  /** 1 for a stressed syllable, less for others. */
  readonly stress: number;
}

/** Syllables said in one breath, and the silence after them in seconds. */
export interface Phrase {
  readonly syllables: readonly Syllable[];
  readonly pause: number;
}

const say = (onset: Onset, vowel: Vowel, duration: number, stress: number): Syllable => ({
  onset,
  vowel,
  duration,
  stress,
});

/** Silence before the first word, seconds. */
export const LEAD_IN = 0.3;

/** Three phrases that mean nothing, with pauses in which a mouth must come to rest. Together 4.7 seconds. */
export const UTTERANCE: readonly Phrase[] = [
  {
    syllables: [
      say('nasal', 'a', 0.24, 1),
      say('plosive', 'o', 0.18, 0.7),
      say('fricative', 'i', 0.2, 0.55),
      say('plosive', 'a', 0.26, 1),
      say('glide', 'e', 0.19, 0.7),
      say('nasal', 'u', 0.25, 0.6),
    ],
    pause: 0.45,
  },
  {
    syllables: [
      say('plosive', 'e', 0.17, 0.8),
      say('plosive', 'a', 0.25, 1),
      say('fricative', 'o', 0.22, 0.8),
      say('glide', 'a', 0.31, 0.9),
    ],
    pause: 0.5,
  },
  {
    syllables: [
      say('fricative', 'a', 0.24, 0.9),
      say('nasal', 'i', 0.17, 0.6),
      say('plosive', 'o', 0.2, 0.8),
      say('plosive', 'a', 0.34, 1),
    ],
    pause: 0.23,
  },
];
