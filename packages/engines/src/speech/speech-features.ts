import { WORKING_FPS } from '@lipsync/domain';
import { type ClipInput } from '../engine';
import { type RunModel } from '../model';
import { type AudioParams } from '../params';
import { createEncoderStates, recordingWindows } from './encoder-states';
import { type Recording, SAMPLE_RATE } from './log-mel';
import { WINDOW_STEPS, type WindowEdges, windowRange, windowStep } from './windows';

/** The audio features of a clip's speech, with silence up to the end of the output. */
export async function encodeSpeech(
  { audio, sources }: ClipInput,
  params: AudioParams,
  edges: WindowEdges,
  run: RunModel,
): Promise<AudioFeatures> {
  const features = createAudioFeatures(withSilence(audio, sources.length), params, edges, run);
  // Encode the first half minute now, so that a pack whose audio encoder fails does so before any frame is decoded.
  await features.load(0, 0);
  return features;
}

/** The generators' audio input: for every output frame, a window of ten 20 ms steps of hidden states around it. */
export interface AudioFeatures {
  /** Number of values in one frame's window, [10 steps × states, width]. */
  readonly windowSize: number;
  /**
   * The windows of output frames `first` to `last` (inclusive). Calls should go forward in time: the recording is
   * encoded 30 s at a time and forgotten behind `first`; what was loaded stays readable as long as it is held.
   */
  load(first: number, last: number): Promise<AudioWindows>;
}

/** The audio windows of a range of output frames. */
interface AudioWindows {
  /** Writes one frame's window. */
  write(frame: number, target: Float32Array, offset: number): void;
}

/** Computes the windows of a 16 kHz recording with a pack's audio encoder. */
export function createAudioFeatures(
  recording: Recording,
  { whisper, states, width }: AudioParams,
  edges: WindowEdges,
  run: RunModel,
): AudioFeatures {
  const stepSize = states * width;
  const windows = recordingWindows(recording, whisper);
  const encoderStates = createEncoderStates(windows, stepSize, run);

  return {
    windowSize: WINDOW_STEPS * stepSize,
    async load(first, last) {
      const { from, to } = windowRange(first, last, windows.steps, edges);
      const { values } = await encoderStates.load(from, to);
      return {
        write(frame, target, offset) {
          for (let place = 0; place < WINDOW_STEPS; place++) {
            const step = windowStep(frame, place, windows.steps, edges);
            const at = offset + place * stepSize;
            if (step < 0) target.fill(0, at, at + stepSize);
            else if (step < from || step >= to) throw new RangeError(`step ${step} was not loaded`);
            else target.set(values.subarray((step - from) * stepSize, (step - from + 1) * stepSize), at);
          }
        },
      };
    },
  };
}

/**
 * Extends the recording with silence to the end of the output. Where the picture outlasts the sound, engines whose
 * audio windows repeat the last step would otherwise hold the last mouth shape, and musetalk would get zeros, which its
 * network has not learned to interpret: they stand for neither silence nor speech.
 */
export function withSilence(recording: Recording, outputFrames: number): Recording {
  const samples = Math.ceil((outputFrames * SAMPLE_RATE) / WORKING_FPS);
  return {
    length: Math.max(recording.length, samples),
    read: (from, to) => recording.read(from, to),
  };
}
