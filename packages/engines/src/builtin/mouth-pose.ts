import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { positionalEncoding } from '../speech/positional-encoding';
import { WINDOW_STEPS } from '../speech/whisper-window';
import { arithmetic } from './arithmetic';
import { CUE_STATE, CUES, STATES, WIDTH } from './speech-cues';

/** What the mouth should look like in one frame, [batch, 1, 1] each. */
export interface MouthPose {
  /** 0 is closed, 1 as wide open as speech gets. */
  readonly opening: Value;
  /** Relative narrowing of the mouth; negative is wider. */
  readonly narrowing: Value;
}

/** The frame lasts from step 4 to step 6 of its window. Lips move slightly ahead of the sound. */
const NOW = { centre: 4.7, spread: 1.3 };
/** The jaw closes more slowly than it opens, hence a weaker echo of what was just said. */
const ECHO = { centre: 2.6, spread: 1.2, strength: 0.7 };

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

  const now = g.op('MatMul', [stepWeights(g, NOW.centre, NOW.spread, 1), cues]);
  const echo = g.op('MatMul', [stepWeights(g, ECHO.centre, ECHO.spread, ECHO.strength), cues]);
  const parts = g.multi('Split', [now, g.ints([1, 1, 1])], 3, { axis: 2 });
  const [openingNow, rounding, spreading] = parts;
  if (openingNow === undefined || rounding === undefined || spreading === undefined) {
    throw new RangeError('three cues expected');
  }
  const [openingEcho = openingNow] = g.multi('Split', [echo, g.ints([1, 2])], 2, { axis: 2 });
  const opening = m.max(openingNow, openingEcho);
  return { opening, narrowing: m.sub(m.mul(rounding, 0.14), m.mul(spreading, 0.05)) };
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

/** [1, 10]: a Gaussian over the steps of the window, with the sum `total`. */
function stepWeights(g: GraphBuilder, centre: number, spread: number, total: number): Value {
  const bell = Array.from({ length: WINDOW_STEPS }, (_, step) =>
    Math.exp(-((step + 0.5 - centre) ** 2) / (2 * spread ** 2)),
  );
  const sum = bell.reduce((a, b) => a + b, 0);
  return g.weights(
    [1, WINDOW_STEPS],
    bell.map((value) => (value * total) / sum),
  );
}
