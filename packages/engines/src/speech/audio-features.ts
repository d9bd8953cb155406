import { type AudioParams } from '../audio-params';
import { type RunModel } from '../run-model';
import { createEncoderStates } from './encoder-states';
import { type Recording } from './recording';
import { recordingWindows } from './recording-windows';
import { WINDOW_STEPS, type WindowEdges, windowRange, windowStep } from './whisper-window';

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
export interface AudioWindows {
  /** Writes one frame's window. */
  write(frame: number, target: Float32Array, offset: number): void;
}

/** Computes the windows of a 16 kHz recording with a pack's audio encoder. */
export function createAudioFeatures(
  recording: Recording,
  { whisper, states, width }: Pick<AudioParams, 'whisper' | 'states' | 'width'>,
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
      const encoded = await encoderStates.load(from, to);
      return {
        write(frame, target, offset) {
          for (let place = 0; place < WINDOW_STEPS; place++) {
            const step = windowStep(frame, place, windows.steps, edges);
            const at = offset + place * stepSize;
            if (step < 0) target.fill(0, at, at + stepSize);
            else encoded.write(step, target, at);
          }
        },
      };
    },
  };
}
