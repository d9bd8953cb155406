import { MEL_BANDS, SEGMENT_FRAMES } from '@lipsync/lipsync';
import { type RunModel } from '../../packs/run-model';
import { float32Of, float32Tensor } from '../../sessions/tensors';
import { type RecordingWindows, STEPS_PER_WINDOW } from './recording-windows';

/** Steps over which one window's states give way to the next one's, in the middle of the overlap: one second. */
const LONGEST_FADE = 50;

/** What the audio encoder says about some steps of a recording. */
export interface EncodedSteps {
  /** Writes the states of one step. */
  write(step: number, target: Float32Array, offset: number): void;
}

/** The audio encoder's hidden states along a recording, made 30 s at a time and forgotten once passed. */
export interface EncoderStates {
  /** Steps [from, to); windows that lie before `from` wholly are forgotten and would have to be made again. */
  load(from: number, to: number): Promise<EncodedSteps>;
}

/** Where a step lies: in `window`, of which it takes `share`, the rest being of the window before it. */
interface StepPlace {
  readonly window: number;
  readonly share: number;
}

/** `stepSize` values per step. */
export function createEncoderStates(
  windows: RecordingWindows,
  stepSize: number,
  run: RunModel,
): EncoderStates {
  const { stride, count } = windows;
  const overlap = STEPS_PER_WINDOW - stride;
  const fade = Math.min(LONGEST_FADE, overlap);
  /** Steps from a window's start to where it begins to count. */
  const entry = (overlap - fade) / 2;
  const encoded = new Map<number, Promise<Float32Array>>();

  const placeOf = (step: number): StepPlace => {
    const window = Math.min(Math.max(Math.floor((step - entry) / stride), 0), count - 1);
    const inside = step - entry - window * stride;
    return { window, share: window === 0 || inside >= fade ? 1 : (inside + 0.5) / fade };
  };

  const encode = async (window: number): Promise<Float32Array> => {
    const mel = float32Tensor(windows.mel(window), [1, MEL_BANDS, SEGMENT_FRAMES]);
    return float32Of((await run('whisper_encoder', { mel })).outputs, 'states');
  };

  return {
    async load(from, to) {
      if (to <= from) return { write: (_, target, offset) => target.fill(0, offset, offset + stepSize) };
      const start = placeOf(from);
      const first = start.share < 1 ? start.window - 1 : start.window;
      const last = placeOf(to - 1).window;
      for (const window of encoded.keys()) if (window < first) encoded.delete(window);
      const wanted = Array.from({ length: last - first + 1 }, (_, i) => {
        const states = encoded.get(first + i) ?? encode(first + i);
        encoded.set(first + i, states);
        return states;
      });
      const loaded = await Promise.all(wanted);

      return {
        write(step, target, offset) {
          const { window, share } = placeOf(step);
          const states = loaded[window - first];
          if (states === undefined) throw new RangeError(`step ${step} was not loaded`);
          const row = (step - window * stride) * stepSize;
          if (share === 1) {
            target.set(states.subarray(row, row + stepSize), offset);
            return;
          }
          const previous = loaded[window - 1 - first];
          if (previous === undefined) throw new RangeError(`step ${step} was not loaded`);
          const before = row + stride * stepSize;
          for (let i = 0; i < stepSize; i++) {
            target[offset + i] = share * (states[row + i] ?? 0) + (1 - share) * (previous[before + i] ?? 0);
          }
        },
      };
    },
  };
}
