import { type Cues, CUES_PER_SECOND, type Stretch } from '@lipsync/engines';

/** Faces and sound are compared at so many steps a second. */
export const STEPS_PER_SECOND = 25;

/** What is heard in a soundtrack. */
export interface Sound {
  readonly cues: Cues;
  /** When somebody speaks. */
  readonly speech: readonly Stretch[];
}

/** A soundtrack at the steps of a shot. */
export interface HeardSteps {
  /** How far the lips should be open, in [0, 1]: as the jaw is, unless they are closed or rounded. */
  readonly opening: Float32Array;
  /** Whether somebody speaks. */
  readonly speech: readonly boolean[];
  /** How much of a pause there is, in [0, 1]: 1 without speech, and between two words that are told apart. */
  readonly pause: Float32Array;
}

/**
 * Slower changes than within so many seconds to either side are not compared: a smile opens a mouth, too. In natural
 * speech this tells one's own lips from others' in 0.87 of 3 seconds instead of 0.81.
 */
const DRIFT = 0.32;
/** Seconds to either side of a step in which lips and sound are compared, and in which their movement is measured. */
const COMPARED = 0.8;
const MOVED = 0.4;
/** A step's evidence depends on nothing beyond so many seconds of it. */
export const EVIDENCE_REACH = COMPARED + DRIFT + 0.12;

/** Steps by which lips are ahead of their sound: by two or three in natural speech. */
const LEADS = [0, 1, 2, 3];

/** How much a mouth that is still seems to move, in eye distances (root mean square), and a jaw that is silent. */
const STILL = 0.004;
const SILENT = 0.03;
/** Movement that may as well be that of speech as not, likewise. */
const LIVELY = 0.01;
/** The best of several leads correlates by 0.45 with one's own speech, and by 0.15 ± 0.25 with others'. */
const CHANCE = 0.3;

/** Weights of the evidence, in units of certainty (nats) per second. */
const FIT = 5;
const MOVEMENT = 3;
/** Movement that nobody hears: in pauses, and where nobody speaks at all. */
const UNHEARD_MOVEMENT = 0.5;

/** A soundtrack at `count` steps from a second on. */
export function soundSteps({ cues, speech }: Sound, start: number, count: number): HeardSteps {
  const opening = new Float32Array(count);
  const pause = new Float32Array(count);
  const spoken: boolean[] = [];
  const heard = (seconds: number): number => {
    const at = Math.floor(seconds * CUES_PER_SECOND);
    return (cues.jaw[at] ?? 0) * (1 - (cues.closure[at] ?? 0)) * (1 - (cues.rounding[at] ?? 0) / 2);
  };
  for (let step = 0; step < count; step++) {
    const seconds = start + step / STEPS_PER_SECOND;
    opening[step] = (heard(seconds - 0.01) + heard(seconds + 0.01)) / 2;
    spoken.push(speech.some((stretch) => stretch.start <= seconds && seconds < stretch.end));
  }
  for (let step = 0; step < count; step++) {
    const loudest = Math.max(...opening.subarray(Math.max(0, step - 3), step + 4));
    pause[step] = spoken[step] === true ? 1 - Math.min(1, loudest / OPEN) : 1;
  }
  return { opening, speech: spoken, pause };
}

/** In words the lips open further than this now and then. */
const OPEN = 0.25;

/**
 * For every step, how certain it is that a face speaks, per second: above 0 its lips fit what is heard; below 0 somebody
 * else speaks; 0 where the face is not seen. Without a sound, lips that move speak.
 * `opening`: of the mouth in eye distances, NaN where it is not seen.
 */
export function lipEvidence(opening: Float32Array, sound: HeardSteps | null): Float32Array {
  const lips = withoutDrift(opening);
  const heard = sound && withoutDrift(sound.opening);
  const fits = heard === null ? [] : LEADS.map((lead) => correlations(lips, heard, lead));
  const moved = movement(lips);
  return opening.map((value, step) => {
    if (Number.isNaN(value)) return 0;
    const move = Math.max(-1, Math.min(0.5, Math.log((moved[step] ?? 0) / LIVELY)));
    if (sound === null) return MOVEMENT * move;
    if (sound.speech[step] !== true) return UNHEARD_MOVEMENT * move;
    const fit = Math.max(...fits.map((fitted) => fitted[step] ?? 0));
    return FIT * (fit - CHANCE) + MOVEMENT * move;
  });
}

/** What differs from the mean around every step. */
function withoutDrift(values: Float32Array): Float32Array {
  return values.map((value, step) => {
    const near = around(values, step, DRIFT);
    return value - near.reduce((sum, other) => sum + other, 0) / near.length;
  });
}

/** The values within so many seconds of a step, without those that are missing. */
function around(values: Float32Array, step: number, seconds: number): Float32Array {
  const reach = Math.round(seconds * STEPS_PER_SECOND);
  return values.subarray(Math.max(0, step - reach), step + reach + 1).filter((value) => !Number.isNaN(value));
}

/**
 * Around every step, the correlation of lips with what is heard `lead` steps later. Still lips correlate with nothing.
 * Both series have no drift, and so means of zero.
 */
function correlations(lips: Float32Array, heard: Float32Array, lead: number): Float32Array {
  const reach = Math.round(COMPARED * STEPS_PER_SECOND);
  return lips.map((_, step) => {
    let [count, common, ofLips, ofSound] = [0, 0, 0, 0];
    for (let at = Math.max(0, step - reach); at <= step + reach; at++) {
      const [lip, sound] = [lips[at] ?? NaN, heard[at + lead] ?? NaN];
      if (Number.isNaN(lip) || Number.isNaN(sound)) continue;
      count++;
      common += lip * sound;
      ofLips += lip * lip;
      ofSound += sound * sound;
    }
    if (count < reach / 2) return 0;
    return common / Math.sqrt((ofLips + count * STILL ** 2) * (ofSound + count * SILENT ** 2));
  });
}

/** How much the lips move around every step: root mean square. */
function movement(lips: Float32Array): Float32Array {
  return lips.map((_, step) => {
    const near = around(lips, step, MOVED);
    return Math.sqrt(near.reduce((sum, value) => sum + value * value, 0) / near.length);
  });
}
