import { type AudioParams } from '../audio-params';
import { logMel, melSlice, SAMPLE_RATE, SEGMENT_FRAMES, SEGMENT_SAMPLES, segmentLogMel } from './log-mel';
import { type Recording } from './recording';
import { soundingSteps } from './whisper-window';

/** The audio encoder halves the rate of the spectrogram: 20 ms per step. */
export const STEPS_PER_WINDOW = SEGMENT_FRAMES / 2;

/**
 * Steps from one overlapping window to the next: 24 s, which gives every step except those at the ends 3 s of context
 * on either side.
 */
const OVERLAPPED_STRIDE = 1200;

/** The 30 s windows in which the encoder processes a recording. */
export interface RecordingWindows {
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
