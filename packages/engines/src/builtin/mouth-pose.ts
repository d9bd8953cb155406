import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { positionalEncoding, WINDOW_STEPS } from '../speech/windows';
import { arithmetic } from './arithmetic';
import { CUE_STATE, CUES, STATES, WIDTH } from './speech';

/** What the voice asks of the mouth in one frame, [batch, 1, 1] each, in [0, 1]. */
export interface MouthPose {
  /** How far the jaw is down: 0 at rest, about 0.2 in "ee", 0.95 in "ah". */
  readonly jaw: Value;
  /** 1 where the lips touch: m, b, p. */
  readonly closure: Value;
  /** 1 where the lips are drawn together and forward: "oo". */
  readonly rounding: Value;
  /** 1 where the corners of the mouth are drawn apart: "ee". */
  readonly spreading: Value;
  /** 1 where the lower lip touches the upper teeth: f, v. */
  readonly dental: Value;
}

/**
 * The middle of the frame in its window, in steps of 20 ms, and how far ahead of the sound the mouth is: lips and jaw
 * of speakers lead the sound by one or two frames.
 */
const MIDDLE = 5;
const LEAD = 2;
/** Width of the weights over time, in steps: jaws are slow. */
const SPREAD = 1.3;
/**
 * How much of a contact of the lips shows 0, 1, 2 … steps before and after it. A frame shows 40 ms, so that a contact
 * between two frames must be seen in one of them; lips take about 60 ms to part and to meet.
 */
const CONTACT = [1, 0.9, 0.35];
const EACH_CUE = [1, 1, 1, 1, 1] as const;

/**
 * The pose from `audio` [batch, 50, 384]: windows of hidden states, to which the caller may have added the sinusoidal
 * position code.
 */
export function mouthPose(g: GraphBuilder, audio: Value, positionCode: 'added' | 'none'): MouthPose {
  const m = arithmetic(g);
  const states = g.op('Reshape', [audio, g.ints([-1, WINDOW_STEPS, STATES, WIDTH])]);
  const starts = [CUE_STATE, 0];
  const ends = [CUE_STATE + 1, CUES.length];
  const coded = g.op('Slice', [states, g.ints(starts), g.ints(ends), g.ints([2, 3])]);
  const steps = g.op('Reshape', [coded, g.ints([-1, WINDOW_STEPS, CUES.length])]);
  const cues = positionCode === 'added' ? m.sub(steps, positionCodeOfCues(g)) : steps;

  const [, jaw, rounding, spreading] = g.split(g.op('MatMul', [stepWeights(g), cues]), EACH_CUE, 2);
  const near = g.weights([1, WINDOW_STEPS, 1], contactWeights());
  const closest = g.op('ReduceMax', [m.mul(cues, near), g.ints([1])]);
  const [closure, , , , dental] = g.split(closest, EACH_CUE, 2);
  return { jaw, closure, rounding, spreading, dental };
}

/** The caller adds the position code to every channel. Subtracting this from the channels gives the cues again. */
function positionCodeOfCues(g: GraphBuilder): Value {
  const code = positionalEncoding(WINDOW_STEPS * STATES, WIDTH);
  const values = new Float32Array(WINDOW_STEPS * CUES.length);
  for (let i = 0; i < values.length; i++) {
    const token = Math.floor(i / CUES.length) * STATES + CUE_STATE;
    values[i] = code[token * WIDTH + (i % CUES.length)] ?? 0;
  }
  return g.weights([1, WINDOW_STEPS, CUES.length], values);
}

/** [1, 10]: a Gaussian over the steps of the window, with the sum 1. */
function stepWeights(g: GraphBuilder): Value {
  const bell = Array.from({ length: WINDOW_STEPS }, (_, step) =>
    Math.exp(-((step - MIDDLE - LEAD) ** 2) / (2 * SPREAD ** 2)),
  );
  const sum = bell.reduce((a, b) => a + b, 0);
  return g.weights(
    [1, WINDOW_STEPS],
    bell.map((value) => value / sum),
  );
}

function contactWeights(): number[] {
  return Array.from({ length: WINDOW_STEPS }, (_, step) => CONTACT[Math.abs(step - MIDDLE - LEAD)] ?? 0);
}
