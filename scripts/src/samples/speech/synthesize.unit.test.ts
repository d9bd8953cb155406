import { utteranceSeconds } from './articulation';
import { synthesizeSpeech } from './synthesize';
import { type Phrase, UTTERANCE } from './utterance';
import { encodeWav } from './wav-file';

const RATE = 16_000;

const one = (vowel: 'a' | 'i'): Phrase[] => [
  { syllables: [{ onset: 'plosive', vowel, duration: 0.5, stress: 1 }], pause: 0.1 },
];

function level(samples: Float32Array, from: number, to: number): number {
  const part = samples.subarray(Math.round(from * RATE), Math.round(to * RATE));
  return Math.sqrt(part.reduce((sum, sample) => sum + sample * sample, 0) / part.length);
}

/** Strength of one frequency, by correlation with a sine and a cosine. */
function strength(samples: Float32Array, hertz: number): number {
  let re = 0;
  let im = 0;
  samples.forEach((sample, i) => {
    re += sample * Math.cos((2 * Math.PI * hertz * i) / RATE);
    im += sample * Math.sin((2 * Math.PI * hertz * i) / RATE);
  });
  return Math.hypot(re, im);
}

const band = (samples: Float32Array, from: number, to: number): number => {
  let sum = 0;
  for (let hertz = from; hertz < to; hertz += 10) sum += strength(samples, hertz);
  return sum;
};

describe('synthesizeSpeech', () => {
  test('pauses are quieter than speech by more than 40 dB, so that a mouth can come to rest in them', () => {
    const speech = synthesizeSpeech(UTTERANCE, RATE);
    expect(speech.length).toBe(Math.round(utteranceSeconds(UTTERANCE) * RATE));
    expect(level(speech, 0.3, 1.6)).toBeGreaterThan(100 * level(speech, 1.7, 2.0));
    expect(level(speech, 0, 0.25)).toBeLessThan(0.001);
  });

  test('vowels differ where real ones do: an a is strong around 760 Hz, an i around 2250 Hz', () => {
    const a = synthesizeSpeech(one('a'), RATE).subarray(0.5 * RATE, 0.7 * RATE);
    const i = synthesizeSpeech(one('i'), RATE).subarray(0.5 * RATE, 0.7 * RATE);
    expect(band(a, 650, 900) / band(a, 2000, 2500)).toBeGreaterThan(3);
    expect(band(i, 650, 900) / band(i, 2000, 2500)).toBeLessThan(1);
  });

  test('the same utterance gives the same samples, within −1..1', () => {
    const once = synthesizeSpeech(UTTERANCE, RATE);
    expect(synthesizeSpeech(UTTERANCE, RATE)).toEqual(once);
    expect(once.every((sample) => Math.abs(sample) < 0.75)).toBe(true);
  });
});

describe('encodeWav', () => {
  test('writes a header that states rate, size and format, and clipped samples', () => {
    const file = encodeWav(Float32Array.of(0, 1, -1, 2), RATE);
    expect(file.toString('latin1', 0, 4)).toBe('RIFF');
    expect(file.readUInt32LE(4)).toBe(file.length - 8);
    expect(file.readUInt32LE(24)).toBe(RATE);
    expect(file.readUInt32LE(40)).toBe(8);
    expect([0, 1, 2, 3].map((i) => file.readInt16LE(44 + i * 2))).toEqual([0, 32767, -32767, 32767]);
  });
});
