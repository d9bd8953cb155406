import { articulationAt, utteranceSeconds } from './articulation';
import { Resonator } from './resonator';
import { type Phrase } from './utterance';

const BANDWIDTHS = [80, 100, 140, 200] as const;

/** Peak of the result; leaves headroom for codecs. */
const PEAK = 0.7;

/** Level of the room noise, which real silence always contains (about −66 dB). */
const ROOM = 0.0005;

/** Speech-like sound for an utterance: mono samples in −1..1. The same utterance always gives the same samples. */
export function synthesizeSpeech(phrases: readonly Phrase[], sampleRate: number): Float32Array {
  const samples = new Float32Array(Math.round(utteranceSeconds(phrases) * sampleRate));
  const tract = BANDWIDTHS.map(() => new Resonator(sampleRate));
  const random = createNoise(20240229);
  let phase = 0;
  let previous = 0;
  for (let i = 0; i < samples.length; i++) {
    const { voice, breath, pitch, formants } = articulationAt(phrases, i / sampleRate);
    phase = (phase + pitch / sampleRate) % 1;
    let sound = voice * glottalFlow(phase) + breath * 0.25 * random();
    tract.forEach((resonator, n) => {
      sound = resonator.filter(sound, formants[n] ?? 0, BANDWIDTHS[n] ?? 0);
    });
    // The sound radiated from the lips is the derivative of the flow.
    samples[i] = sound - 0.97 * previous;
    previous = sound;
  }
  const peak = samples.reduce((max, sample) => Math.max(max, Math.abs(sample)), 0);
  return samples.map((sample) => (sample / peak) * PEAK + ROOM * random());
}

/** Air flow through the vocal folds over one period (Rosenberg): opens slowly, closes fast, rests. */
function glottalFlow(phase: number): number {
  const opening = 0.4;
  const closed = 0.56;
  if (phase < opening) return 0.5 - 0.5 * Math.cos((Math.PI * phase) / opening);
  if (phase < closed) return Math.cos((Math.PI / 2) * ((phase - opening) / (closed - opening)));
  return 0;
}

/** White noise in −1..1 from a linear congruential generator: repeatable. */
function createNoise(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2147483648 - 1;
  };
}
