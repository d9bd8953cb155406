import { createDdim, guide } from '../diffusion/ddim';
import { fillNoise } from '../diffusion/noise';
import { createExemplarFeeds, exemplarsAmong } from '../exemplar-inputs';
import { LANDMARK_COUNT, LANDMARK_VALUES } from '../face/landmarks';
import { type MouthExemplars } from '../face/mouth-exemplars';
import { type ArrayPool, float32Of, float32Tensor, giveAll, type RunModel, type Tensors } from '../model';
import { WINDOW_STEPS } from '../speech/windows';
import { conditionsAtOnce, type LatentsyncManifest } from './manifest';

type Floats = Float32Array<ArrayBuffer>;

/** The network's inputs for a full window of consecutive frames. */
interface WindowConditions {
  /** See `WindowInput`; taken over. */
  readonly input: Floats;
  /** Writes the audio windows, [frames, 10 steps × states, width]. */
  writeAudio(target: Float32Array): void;
  /** Writes the faces' landmarks, [frames, 68, 2] in pixels of the crop. */
  writeLandmarks(target: Float32Array): void;
  readonly mouths: MouthExemplars;
}

/** One of the two conditions of guidance, with the memory that its calls share. */
interface Condition {
  audio: Floats;
  /** The deep features of the last whole step as `deep`, if the network returns them. */
  deep: Tensors;
}

/**
 * The network's input before the first step, [3 · C + 1, frames, h, w]: noisy, mask, masked, reference. Given are every
 * frame's scaled latents of the masked crop and of the whole crop, [2, C, h, w].
 */
type WindowInput = (latents: readonly Float32Array[]) => Floats;

/** All frames start from one noise image. `keep` is [h, w], 1 where the face is kept. */
export function createWindowInput(
  { params: { latent, window, seed } }: LatentsyncManifest,
  keep: Float32Array,
  pool: ArrayPool,
): WindowInput {
  const { channels, height, width } = latent;
  const plane = height * width;
  const noise = new Float32Array(channels * plane);
  fillNoise(noise, seed);
  return (latents) => {
    const input = pool.take((3 * channels + 1) * window * plane);
    const place = (channel: number, frame: number): number => (channel * window + frame) * plane;
    latents.forEach((known, frame) => {
      input.set(keep, place(channels, frame));
      for (let channel = 0; channel < channels; channel++) {
        const masked = channel * plane;
        const reference = (channels + channel) * plane;
        input.set(noise.subarray(masked, masked + plane), place(channel, frame));
        input.set(known.subarray(masked, masked + plane), place(channels + 1 + channel, frame));
        input.set(known.subarray(reference, reference + plane), place(2 * channels + 1 + channel, frame));
      }
    });
    return input;
  };
}

/**
 * Generates a window: clean latents [C, frames, h, w], still scaled. Rejects with the signal's reason between steps.
 */
type DenoiseWindow = (window: WindowConditions, signal: AbortSignal) => Promise<Floats>;

/**
 * LatentSync's sampler (https://github.com/bytedance/LatentSync): the frames of a window are denoised together. Of the
 * network's input only the noisy part changes from step to step. Classifier-free guidance moves the prediction away from
 * the one without sound. The two are separate calls, except for a network that computes both at once, in twice the memory.
 *
 * With DeepCache (https://github.com/horseee/DeepCache), the first of every few steps computes the whole network, and the
 * others reuse its deep features. Every window begins to count at the first.
 */
export function createDenoiseWindow(
  { roles, params }: LatentsyncManifest,
  run: RunModel,
  pool: ArrayPool,
): DenoiseWindow {
  const { latent, audio, window: frames, guidance, schedule } = params;
  const { channels, height, width } = latent;
  const noisySize = channels * frames * height * width;
  const tokens = WINDOW_STEPS * audio.states;
  const wantsLandmarks = roles.unet3d.inputs.landmarks !== undefined;
  const exemplarFeeds = createExemplarFeeds(roles.unet3d, pool);
  const ddim = createDdim(schedule);
  const interval = params.deepCache?.interval ?? 1;
  const together = conditionsAtOnce(roles.unet3d) === 2;
  const apart = guidance > 1 && !together;

  return async (window, signal) => {
    let { input } = window;
    let landmarks = pool.take(wantsLandmarks ? frames * LANDMARK_VALUES : 0);
    let exemplars = exemplarFeeds(window.mouths);
    const sound: Condition = { audio: pool.take(frames * tokens * audio.width), deep: {} };
    const silence: Condition = { audio: pool.take(apart ? sound.audio.length : 0), deep: {} };
    if (wantsLandmarks) window.writeLandmarks(landmarks);
    window.writeAudio(sound.audio);
    silence.audio.fill(0);

    /** The prediction at a step. The fed arrays are transferred and returned. */
    const predict = async (step: number, time: number, condition: Condition): Promise<Floats> => {
      signal.throwIfAborted();
      const always: Tensors = {
        latent: float32Tensor(input, [1, 3 * channels + 1, frames, height, width]),
        timestep: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(time)) },
        audio: float32Tensor(condition.audio, [frames, tokens, audio.width]),
      };
      const whole = step % interval === 0;
      if (whole) giveAll(condition.deep, pool);
      const further: Tensors = whole
        ? {
            ...(wantsLandmarks && { landmarks: float32Tensor(landmarks, [frames, LANDMARK_COUNT, 2]) }),
            ...exemplars,
          }
        : condition.deep;
      const { outputs, feeds } = await run(
        whole ? 'unet3d' : 'unet3d_shallow',
        { ...always, ...further },
        (length) => pool.take(length),
      );
      input = float32Of(feeds, 'latent');
      condition.audio = float32Of(feeds, 'audio');
      condition.deep = deepAmong(whole ? outputs : feeds);
      if (whole) {
        if (wantsLandmarks) landmarks = float32Of(feeds, 'landmarks');
        exemplars = exemplarsAmong(feeds);
      }
      return float32Of(outputs, 'prediction');
    };

    for (const [step, time] of ddim.timesteps.entries()) {
      // Of both together, the one without sound comes first.
      const unheard = apart ? [await predict(step, time, silence)] : [];
      const heard = await predict(step, time, sound);
      const predicted = heard.subarray(-noisySize);
      for (const without of together ? [heard] : unheard)
        guide(without.subarray(0, noisySize), predicted, guidance, predicted);
      ddim.step(step, input.subarray(0, noisySize), predicted);
      for (const array of [...unheard, heard]) pool.give(array);
    }
    const clean = input.slice(0, noisySize);
    for (const array of [input, landmarks, sound.audio, silence.audio]) pool.give(array);
    for (const tensors of [exemplars, sound.deep, silence.deep]) giveAll(tensors, pool);
    return clean;
  };
}

function deepAmong({ deep }: Tensors): Tensors {
  return deep ? { deep } : {};
}
