import { type Recording, type WindowEdges, windowRange, windowStep, WINDOW_STEPS } from '@lipsync/lipsync';
import { type AudioParams } from '@lipsync/model-pack';
import { type RunModel } from '../../packs/run-model';
import { createEncoderStates } from './encoder-states';
import { recordingWindows } from './recording-windows';

/** What the generators hear of a recording: around every output frame ten steps of 20 ms of hidden states. */
export interface AudioFeatures {
  /** Values of one frame's window, [10 steps × states, width]. */
  readonly windowSize: number;
  /**
   * What output frames `first` to `last` (included) hear. Calls should go forward in time: the recording is encoded
   * 30 s at a time and forgotten behind `first`; what was loaded stays readable as long as it is held.
   */
  load(first: number, last: number): Promise<AudioWindows>;
}

/** The audio windows of some output frames. */
export interface AudioWindows {
  /** Writes the window of one of them. */
  write(frame: number, target: Float32Array, offset: number): void;
}

/** The windows of a 16 kHz recording as a pack's audio encoder makes them. */
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
