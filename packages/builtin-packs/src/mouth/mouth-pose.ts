import { CUES, positionalEncoding, WINDOW_STEPS } from '@lipsync/engines';
import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { arithmetic } from '../arithmetic';
import { CUE_STATE, STATES, WIDTH } from '../hearing/audio-encoder';

/** What the voice asks of the mouth in one frame, [batch, 1, 1] each, in [0, 1]. */
export interface MouthPose {
  /** How far the jaw is down: 0 at rest, about 0.2 in "ee", 0.95 in "ah". */
  readonly jaw: Value;
  /** 1 where somebody speaks, so that lips which do not touch are parted. */
  readonly speaks: Value;
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
const SPREAD = 1.8;
/**
 * Contacts of the lips are heard from the moment when lips begin to approach to that when they have parted, so they are
 * not shown ahead of the sound; they touch a step less on either side. How much of a contact shows in the steps around:
 * lips need more than a frame to meet and to part, but are together no longer than they are heard.
 */
const LIPS_MEET = [0, 0.2, 1, 0.2, 0] as const;
/** The lower lip only brushes the teeth: at once, and it must be seen in one of the two steps that a frame shows. */
const TEETH_BRUSHED = [0.2, 0.7, 1, 0.7, 0.2] as const;
/** What is heard of drawn lips is a mean of what might be. Mouths decide. */
const EMPHASIS = 1.5;
/** Lips that are drawn together or apart by this much speak. Before a word they are drawn a little. */
const SPEAKS = { from: 0.1, surely: 0.35 };
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
  const cues = m.clamp(positionCode === 'added' ? m.sub(steps, positionCodeOfCues(g)) : steps, 0, 1);

  const inRows = g.op('Transpose', [cues], { perm: [0, 2, 1] });
  const apart = g.op('MaxPool', [m.sub(1, inRows)], { kernel_shape: [3], pads: [1, 1] });
  // A doubtful contact leaves most of the gap.
  const [together] = g.split(m.square(m.sub(1, apart)), [1, CUES.length - 1], 1);
  const shown = (heard: Value, weights: readonly number[]): Value => {
    const around = g.weights([1, 1, WINDOW_STEPS], aroundMiddle(weights));
    return g.op('ReduceMax', [m.mul(heard, around), g.ints([2])]);
  };
  const [, dental] = g.split(shown(inRows, TEETH_BRUSHED), [CUES.length - 1, 1], 1);

  const usual = stepWeights(g);
  const [, , rounding, spreading] = g.split(g.op('MatMul', [usual, cues]), EACH_CUE, 2);
  const uncrossed = m.mul(usual, m.sub(1, contactAhead(g, together)));
  const beforeContact = m.div(uncrossed, g.op('ReduceSum', [uncrossed, g.ints([2])]));
  const [, jaw, roundingBefore, spreadingBefore] = g.split(
    g.op('MatMul', [beforeContact, cues]),
    EACH_CUE,
    2,
  );
  const plain = (cue: Value): Value => m.min(m.mul(cue, EMPHASIS), 1);
  return {
    jaw,
    speaks: m.ramp(m.max(plain(roundingBefore), plain(spreadingBefore)), SPEAKS.from, SPEAKS.surely),
    closure: shown(together, LIPS_MEET),
    rounding: plain(rounding),
    spreading: plain(spreading),
    dental,
  };
}

/**
 * [batch, 1, 10]: 1 from the next contact of the window on. Lips open for what comes before it, not for what follows:
 * those at rest would part ahead of the sound, and meet again for its first p.
 */
function contactAhead(g: GraphBuilder, together: Value): Value {
  const ahead = Array.from({ length: WINDOW_STEPS }, (_, step) => (step >= MIDDLE ? 1 : 0));
  const coming = g.op('Mul', [together, g.weights([1, 1, WINDOW_STEPS], ahead)]);
  const reach = WINDOW_STEPS - MIDDLE - 1;
  return g.op('MaxPool', [coming], { kernel_shape: [reach + 1], pads: [reach, 0] });
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

/** A window whose middle has these five weights, and 0 around them. */
function aroundMiddle(weights: readonly number[]): number[] {
  const first = MIDDLE - 2;
  return Array.from({ length: WINDOW_STEPS }, (_, step) => weights[step - first] ?? 0);
}
