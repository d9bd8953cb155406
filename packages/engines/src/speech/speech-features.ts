import { endOf } from '@lipsync/domain';
import { type ClipInput } from '../engine';
import { type RunModel } from '../model';
import { type AudioParams } from '../params';
import { createEncoderStates, recordingWindows } from './encoder-states';
import { type Recording, SAMPLE_RATE } from './log-mel';
import { recordedStep, WINDOW_STEPS, type WindowEdges, windowRange, windowStart } from './windows';

/** The audio features of a clip's speech, with silence up to the end of the output. */
export function encodeSpeech(
  { audio, clock }: Pick<ClipInput, 'audio' | 'clock'>,
  params: AudioParams,
  edges: WindowEdges,
  run: RunModel,
): SpeechFeatures {
  const encode = async (): Promise<AudioFeatures> => {
    const features = createAudioFeatures(withSilence(await audio, endOf(clock)), params, edges, run);
    // The first half minute is encoded as soon as it can be: only the generator has to wait for it.
    await features.load(0, 0);
    return features;
  };
  const encoding = encode();
  const ended = Promise.allSettled([encoding]);
  return {
    windowSize: windowSizeOf(params),
    load: async (first, last) => (await encoding).load(first, last),
    ended: async () => void (await ended),
  };
}

/** The features of a recording that may still be decoded. Failures to do so, or to encode it, are those of `load`. */
interface SpeechFeatures extends AudioFeatures {
  /** Resolves once the first half minute is encoded, or that has failed. */
  ended(): Promise<void>;
}

const windowSizeOf = ({ states, width }: AudioParams): number => WINDOW_STEPS * states * width;

/** The generators' audio input: for any instant, a window of ten 20 ms steps of hidden states around it. */
export interface AudioFeatures {
  /** Number of values in one window, [10 steps × states, width]. */
  readonly windowSize: number;
  /**
   * The windows around the seconds from `first` to `last`. Calls should go forward in time: the recording is encoded 30 s
   * at a time and forgotten behind `first`; what was loaded stays readable as long as it is held.
   */
  load(first: number, last: number): Promise<AudioWindows>;
}

/** The audio windows of a stretch of time. */
interface AudioWindows {
  /** Writes the window around a second: for a frame, the middle of its time on screen. */
  write(seconds: number, target: Float32Array, offset: number): void;
}

/** Computes the windows of a 16 kHz recording with a pack's audio encoder. */
export function createAudioFeatures(
  recording: Recording,
  params: AudioParams,
  edges: WindowEdges,
  run: RunModel,
): AudioFeatures {
  const stepSize = params.states * params.width;
  const windows = recordingWindows(recording, params.whisper);
  const encoderStates = createEncoderStates(windows, stepSize, run);

  return {
    windowSize: windowSizeOf(params),
    async load(first, last) {
      const { from, to } = windowRange(first, last, windows.steps, edges);
      const { values } = await encoderStates.load(from, to);
      const zeros = new Float32Array(stepSize);
      const statesAt = (windowStep: number): Float32Array => {
        const step = recordedStep(windowStep, windows.steps, edges);
        if (step < 0) return zeros;
        if (step < from || step >= to) throw new RangeError(`step ${step} was not loaded`);
        return values.subarray((step - from) * stepSize, (step - from + 1) * stepSize);
      };
      return {
        write(seconds, target, offset) {
          const { step, part } = windowStart(seconds);
          for (let place = 0; place < WINDOW_STEPS; place++) {
            const at = offset + place * stepSize;
            const states = statesAt(step + place);
            if (part === 0) target.set(states, at);
            else writeBetween(states, statesAt(step + place + 1), part, target, at);
          }
        },
      };
    },
  };
}

/** The network's states change slowly from step to step, so those between two steps are about their mean. */
function writeBetween(
  before: Float32Array,
  after: Float32Array,
  part: number,
  target: Float32Array,
  offset: number,
): void {
  for (let i = 0; i < before.length; i++) {
    target[offset + i] = (1 - part) * (before[i] ?? 0) + part * (after[i] ?? 0);
  }
}

/** Samples that floating point adds to a duration that is a whole number of them. */
const ROUNDING = 1e-6;

/**
 * Extends the recording with silence to the end of the output. Where the picture outlasts the sound, engines whose
 * audio windows repeat the last step would otherwise hold the last mouth shape, and musetalk would get zeros, which its
 * network has not learned to interpret: they stand for neither silence nor speech.
 */
export function withSilence(recording: Recording, outputSeconds: number): Recording {
  const samples = Math.ceil(outputSeconds * SAMPLE_RATE - ROUNDING);
  return {
    length: Math.max(recording.length, samples),
    read: (from, to) => recording.read(from, to),
  };
}
