import {
  audioWindow,
  MEL_BANDS,
  SAMPLE_RATE,
  SEGMENT_FRAMES,
  segmentLogMel,
  slicedLogMel,
  soundingSteps,
  WINDOW_STEPS,
} from '@lipsync/lipsync';
import { type MusetalkParams } from '@lipsync/model-pack';
import { float32Of, float32Tensor } from '../../sessions/tensors';
import { type RunModel } from '../../packs/run-model';

/** The audio encoder halves the rate of the spectrogram. */
const STEPS_PER_SEGMENT = SEGMENT_FRAMES / 2;

/** Hidden states of the audio encoder, made 30 s at a time and forgotten once the output has passed them. */
export interface AudioFeatures {
  /** Values of one frame's window. */
  readonly windowSize: number;
  /** Writes the windows of these output frames (ascending, also from call to call) one after the other. */
  readWindows(frames: readonly number[], target: Float32Array): Promise<void>;
}

export function createAudioFeatures(
  audio: Float32Array,
  { whisper, states, width }: Pick<MusetalkParams['audio'], 'whisper' | 'states' | 'width'>,
  run: RunModel,
): AudioFeatures {
  const stepSize = states * width;
  const windowSize = WINDOW_STEPS * stepSize;
  const steps = soundingSteps(audio.length, SAMPLE_RATE);
  const segments = new Map<number, Promise<Float32Array>>();

  const melOf = whisper === 'hf' ? (segment: number) => segmentLogMel(audio, segment) : slicesOf(audio);

  const encode = async (segment: number): Promise<Float32Array> => {
    const mel = float32Tensor(melOf(segment), [1, MEL_BANDS, SEGMENT_FRAMES]);
    return float32Of((await run('whisper_encoder', { mel })).outputs, 'states');
  };

  /** The segments that steps [from, to) lie in; earlier ones will not be asked for again. */
  const load = async (from: number, to: number): Promise<ReadonlyMap<number, Float32Array>> => {
    const first = Math.floor(from / STEPS_PER_SEGMENT);
    for (const segment of segments.keys()) if (segment < first) segments.delete(segment);
    const wanted: [number, Promise<Float32Array>][] = [];
    for (let segment = first; segment * STEPS_PER_SEGMENT < to; segment++) {
      const encoding = segments.get(segment) ?? encode(segment);
      segments.set(segment, encoding);
      wanted.push([segment, encoding]);
    }
    const loaded = new Map<number, Float32Array>();
    for (const [segment, encoding] of wanted) loaded.set(segment, await encoding);
    return loaded;
  };

  return {
    windowSize,
    async readWindows(frames, target) {
      const windows = frames.map((frame) => audioWindow(frame, steps));
      const loaded = await load(windows[0]?.from ?? 0, windows[windows.length - 1]?.to ?? 0);
      windows.forEach(({ from, to, place }, i) => {
        const start = i * windowSize;
        target.fill(0, start, start + windowSize);
        for (let step = from; step < to; step++) {
          const states = loaded.get(Math.floor(step / STEPS_PER_SEGMENT));
          const row = (step % STEPS_PER_SEGMENT) * stepSize;
          if (states)
            target.set(states.subarray(row, row + stepSize), start + (place + step - from) * stepSize);
        }
      });
    },
  };
}

/** The slices of one spectrogram over the whole recording, which is computed when the first is asked for. */
function slicesOf(audio: Float32Array): (segment: number) => Float32Array<ArrayBuffer> {
  let slices: Float32Array<ArrayBuffer>[] | undefined;
  return (segment) => {
    slices ??= [...slicedLogMel(audio)];
    // A copy: what is fed moves away.
    return slices[segment]?.slice() ?? new Float32Array(MEL_BANDS * SEGMENT_FRAMES);
  };
}
