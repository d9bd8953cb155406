import { float32Of, float32Tensor, type RunModel } from '../model';
import {
  logMel,
  MEL_BANDS,
  type Recording,
  recordingOf,
  SAMPLE_RATE,
  SEGMENT_FRAMES,
  SEGMENT_SAMPLES,
} from './log-mel';

/**
 * What the built-in hearing network tells about lips and jaw. closure: lips together (p, b, m); jaw: how far it is down;
 * rounding: lips drawn together (o, u); spreading: corners apart (i, e); dental: the lower lip at the upper teeth (f,
 * v). All are 0 at rest.
 */
export const CUES = ['closure', 'jaw', 'rounding', 'spreading', 'dental'] as const;

/** Steps of every cue per second. */
export const CUES_PER_SECOND = 50;

/** Every cue along a recording, in [0, 1]: step n is the mouth from n/50 to (n + 1)/50 s. */
export type Cues = Readonly<Record<(typeof CUES)[number], Float32Array>>;

/** Seconds on either side of a stretch that are heard with it. The network judges by what is loud within 2.5 s. */
const CONTEXT = 3;
/** Seconds of which a run gives the cues. */
const SECONDS_PER_RUN = SEGMENT_SAMPLES / SAMPLE_RATE - 2 * CONTEXT;

/** Hears a whole recording, half a minute at a time. */
export async function hear(recording: Recording, run: RunModel): Promise<Cues> {
  const seconds = recording.length / SAMPLE_RATE;
  const steps = Math.floor(seconds * CUES_PER_SECOND);
  const cues: Cues = {
    closure: new Float32Array(steps),
    jaw: new Float32Array(steps),
    rounding: new Float32Array(steps),
    spreading: new Float32Array(steps),
    dental: new Float32Array(steps),
  };
  for (let start = 0; start < seconds; start += SECONDS_PER_RUN) {
    const from = (start - CONTEXT) * SAMPLE_RATE;
    const mel = logMel(recordingOf(recording.read(from, from + SEGMENT_SAMPLES)));
    const { outputs } = await run('hearing', { mel: float32Tensor(mel, [1, MEL_BANDS, SEGMENT_FRAMES]) });
    const heard = float32Of(outputs, 'cues');
    const first = start * CUES_PER_SECOND;
    const count = Math.min(SECONDS_PER_RUN * CUES_PER_SECOND, steps - first);
    for (const [place, name] of CUES.entries()) {
      for (let i = 0; i < count; i++)
        cues[name][first + i] = heard[(CONTEXT * CUES_PER_SECOND + i) * CUES.length + place] ?? 0;
    }
  }
  return cues;
}
