import { float32Of, float32Tensor, type RunModel } from '../model';
import { type AudioParams } from '../params';
import {
  logMel,
  MEL_BANDS,
  melSlice,
  type Recording,
  SAMPLE_RATE,
  SEGMENT_FRAMES,
  SEGMENT_SAMPLES,
  segmentLogMel,
} from './log-mel';
import { soundingSteps } from './windows';

/** Steps over which one window's states blend into the next one's, in the middle of their overlap: one second. */
const LONGEST_FADE = 50;

/** The states of steps [from, to), one after the other. */
interface Rows {
  readonly from: number;
  readonly to: number;
  readonly values: Float32Array;
}

/**
 * The audio encoder's hidden states along a recording, `stepSize` values per step, computed 30 s at a time and forgotten
 * once passed.
 */
export function createEncoderStates(windows: RecordingWindows, stepSize: number, run: RunModel) {
  const { stride, count } = windows;
  const overlap = STEPS_PER_WINDOW - stride;
  const fade = Math.min(LONGEST_FADE, overlap);
  /** Steps from a window's start to where its states begin to count. */
  const entry = (overlap - fade) / 2;
  const encoded = new Map<number, Float32Array<ArrayBuffer>>();
  /** Buffers of forgotten windows, for reuse: the states of half a minute take megabytes. */
  const spare: Float32Array<ArrayBuffer>[] = [];
  let latest: Rows = { from: 0, to: 0, values: new Float32Array(0) };
  let previous: Promise<unknown> = Promise.resolve();

  const windowOf = (step: number): number =>
    Math.min(Math.max(Math.floor((step - entry) / stride), 0), count - 1);

  const forgetBefore = (first: number): void => {
    for (const [window, states] of encoded) {
      if (window >= first) continue;
      encoded.delete(window);
      spare.push(states);
    }
  };

  const statesOf = async (window: number): Promise<Float32Array> => {
    const known = encoded.get(window);
    if (known) return known;
    const mel = float32Tensor(windows.mel(window), [1, MEL_BANDS, SEGMENT_FRAMES]);
    const used = spare.pop();
    const { outputs } = await run('whisper_encoder', { mel }, used && (() => used));
    const states = float32Of(outputs, 'states');
    encoded.set(window, states);
    return states;
  };

  /** Blends a window into the states of the windows before it. */
  const lay = (window: number, states: Float32Array, rows: Rows, start: number): void => {
    const end = Math.min(rows.to, window * stride + STEPS_PER_WINDOW);
    for (let step = Math.max(start, window === 0 ? 0 : window * stride + entry); step < end; step++) {
      const row = (step - window * stride) * stepSize;
      const at = (step - rows.from) * stepSize;
      const share = window === 0 ? 1 : (step - window * stride - entry + 0.5) / fade;
      if (share >= 1) {
        rows.values.set(states.subarray(row, row + stepSize), at);
        continue;
      }
      for (let i = 0; i < stepSize; i++) {
        rows.values[at + i] = share * (states[row + i] ?? 0) + (1 - share) * (rows.values[at + i] ?? 0);
      }
    }
  };

  const read = async (from: number, to: number): Promise<Rows> => {
    const rows = { from, to, values: new Float32Array(Math.max(to - from, 0) * stepSize) };
    // Calls overlap: what the previous call read is copied, because its window may have been forgotten.
    const overlaps = from >= latest.from && from < latest.to;
    const start = overlaps ? Math.min(latest.to, to) : from;
    const at = (from - latest.from) * stepSize;
    if (overlaps) rows.values.set(latest.values.subarray(at, at + (start - from) * stepSize));
    if (start >= to) return rows;
    for (let window = windowOf(start - fade); window <= windowOf(to - 1); window++) {
      forgetBefore(Math.min(window, windowOf(to - fade)));
      lay(window, await statesOf(window), rows, start);
    }
    latest = rows;
    return rows;
  };

  return {
    /** A copy of steps [from, to). Calls should go forward in time: a window is forgotten once it was read to its end. */
    load(from: number, to: number): Promise<Rows> {
      // One at a time: the calls share the windows' memory.
      const reading = previous.then(() => read(from, to));
      previous = reading.catch(() => undefined);
      return reading;
    },
  };
}

/** The audio encoder halves the rate of the spectrogram: 20 ms per step. */
const STEPS_PER_WINDOW = SEGMENT_FRAMES / 2;

/**
 * Steps from one overlapping window to the next: 24 s, which gives every step except those at the ends 3 s of context
 * on either side.
 */
const OVERLAPPED_STRIDE = 1200;

/** The 30 s windows in which the encoder processes a recording. */
interface RecordingWindows {
  readonly count: number;
  /** Number of 20 ms steps that carry sound. */
  readonly steps: number;
  /** Steps from the start of one window to the start of the next. */
  readonly stride: number;
  /** The spectrogram [80, 3000] of a window, in newly allocated memory. */
  mel(window: number): Float32Array<ArrayBuffer>;
}

/**
 * The windows of a 16 kHz recording. Hugging Face's front end (musetalk) cuts the waveform into adjacent windows.
 * OpenAI's (latentsync, highsync) cuts one spectrogram of the whole recording; there the windows overlap, because
 * without context beyond a border the encoder's states differ near it, which shows as a twitch every 30 s.
 */
export function recordingWindows(recording: Recording, whisper: AudioParams['whisper']): RecordingWindows {
  const steps = soundingSteps(recording.length, SAMPLE_RATE);
  if (whisper === 'hf') {
    return {
      count: Math.max(1, Math.ceil(recording.length / SEGMENT_SAMPLES)),
      steps,
      stride: STEPS_PER_WINDOW,
      mel: (window) => segmentLogMel(recording, window),
    };
  }
  let whole: Float32Array | undefined;
  return {
    count: 1 + Math.max(0, Math.ceil((steps - STEPS_PER_WINDOW) / OVERLAPPED_STRIDE)),
    steps,
    stride: OVERLAPPED_STRIDE,
    mel: (window) => melSlice((whole ??= logMel(recording)), window * OVERLAPPED_STRIDE * 2),
  };
}
