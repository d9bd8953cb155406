import { float32Of, float32Tensor, type RunModel } from '../model';
import { type Recording, SAMPLE_RATE } from './log-mel';

/** Samples in a step of the analyzer's `voice`: 32 ms. */
export const VOICE_STEP = 512;
/** Samples before a step that it also hears. */
export const VOICE_CONTEXT = 64;
/** What it remembers from step to step. */
export const VOICE_STATE = [2, 1, 128] as const;

/** A stretch of a recording, in seconds. */
export interface Stretch {
  readonly start: number;
  readonly end: number;
}

/** Steps per run: half a minute. */
const STEPS_PER_RUN = 960;
/**
 * The detector takes any first sounds for half a voice. So it first hears so many steps of the start backwards, six
 * seconds, and knows what it hears when the recording begins.
 */
const LEAD_IN = 192;

/**
 * When somebody speaks or sings in a recording, in order and apart: stretches with the onsets and closing lips around
 * what was heard, and with the pauses within a sentence. Reads forward, half a minute at a time, after the lead-in.
 */
export async function voiceActivity(recording: Recording, run: RunModel): Promise<readonly Stretch[]> {
  const steps = Math.ceil(recording.length / VOICE_STEP);
  const voice = new Float32Array(steps);
  let state = new Float32Array(VOICE_STATE[0] * VOICE_STATE[2]);
  const hear = async (from: number, to: number): Promise<Float32Array> => {
    const sound = readMirrored(recording, from * VOICE_STEP - VOICE_CONTEXT, to * VOICE_STEP);
    const { outputs } = await run('voice', {
      sound: float32Tensor(sound, [sound.length]),
      state: float32Tensor(state, VOICE_STATE),
    });
    state = float32Of(outputs, 'next');
    return float32Of(outputs, 'voice');
  };
  await hear(-LEAD_IN, 0);
  for (let from = 0; from < steps; from += STEPS_PER_RUN)
    voice.set(await hear(from, Math.min(from + STEPS_PER_RUN, steps)), from);
  return voicedStretches(voice, recording.length / SAMPLE_RATE);
}

/**
 * Samples [from, to) of a recording before whose start it plays backwards; one that is shorter than that, back and forth:
 * sound that begins in silence is what the detector takes for half a voice.
 */
function readMirrored(recording: Recording, from: number, to: number): Float32Array<ArrayBuffer> {
  const sound = recording.read(from, to);
  const start = recording.read(0, Math.min(Math.max(0, -from), recording.length));
  for (let at = from; at < Math.min(to, 0); at++) {
    const back = (-1 - at) % (2 * start.length);
    sound[at - from] = start[Math.min(back, 2 * start.length - 1 - back)] ?? 0;
  }
  return sound;
}

/**
 * A voice begins where it is this probable, and ends where it is less probable than that. Lower than the 0.5 and 0.35
 * that its authors propose: lips that rest while somebody whispers or sings before a band are worse than lips that move
 * for a moment in music.
 */
const BEGINS = 0.1;
const ENDS = 0.05;
/** Seconds before what was heard: the detector needs some of a word, and lips part before it. */
const ONSET = 0.2;
/** Seconds after it, in which lips close. */
const CLOSING = 0.25;
/** Shorter silence between two stretches, in seconds, is no rest. Breaths within a sentence are shorter. */
const SHORTEST_REST = 0.4;

/** The stretches of a recording of so many seconds whose steps hold a voice with these probabilities. */
function voicedStretches(voice: Float32Array, seconds: number): readonly Stretch[] {
  const stretches: Stretch[] = [];
  const add = (first: number, end: number): void => {
    const start = Math.max(0, stepStart(first) - ONSET);
    const latest = stretches.at(-1);
    const stretch = { start, end: Math.min(seconds, stepStart(end) + CLOSING) };
    if (latest && start - latest.end < SHORTEST_REST)
      stretches.splice(-1, 1, { ...latest, end: stretch.end });
    else stretches.push(stretch);
  };
  let first: number | undefined;
  for (const [step, probability] of voice.entries()) {
    if (probability >= BEGINS) first ??= step;
    else if (first !== undefined && probability < ENDS) {
      add(first, step);
      first = undefined;
    }
  }
  if (first !== undefined) add(first, voice.length);
  return stretches;
}

const stepStart = (step: number): number => (step * VOICE_STEP) / SAMPLE_RATE;
