import { maskLowerHalf, positionalEncoding, WINDOW_STEPS } from '@lipsync/lipsync';
import { type MusetalkManifest } from '@lipsync/model-pack';
import { type Tensors } from '../../sessions/session';
import { float32Of, float32Tensor } from '../../sessions/tensors';
import { type ArrayPool } from '../array-pool';
import { type RunModel } from '../../packs/run-model';

type Floats = Float32Array<ArrayBuffer>;

/** One full batch; the arrays move into the graphs and are gone after the call. */
export interface GeneratorInput {
  readonly batch: number;
  /** [batch, 3, side, side] in [-1, 1]. */
  readonly crops: Floats;
  /** [batch, 68, 2] in pixels of the crop. */
  readonly landmarks: Floats;
  /** [batch, 10 steps × states, width] without position code. */
  readonly audio: Floats;
}

/**
 * MuseTalk's forward pass: latents of the crop without and with its lower half, side by side on channels, one step of
 * the network at a fixed timestep under the audio window, decoded. Answers [batch, 3, side, side] in [-1, 1].
 */
export type GenerateFaces = (input: GeneratorInput) => Promise<Floats>;

export function createFaceGenerator(
  manifest: MusetalkManifest,
  run: RunModel,
  pool: ArrayPool,
): GenerateFaces {
  const { resolution: side, latent, audio, timestep } = manifest.params;
  const cropSize = 3 * side * side;
  const latentSize = latent.channels * latent.height * latent.width;
  const tokens = WINDOW_STEPS * audio.states;
  const positions = positionalEncoding(tokens, audio.width);
  const wantsLandmarks = manifest.roles.unet.inputs.landmarks !== undefined;

  /** Runs a role and takes the memory of its inputs back. */
  const call = async (role: string, feeds: Tensors, output: string): Promise<Floats> => {
    const { outputs, feeds: returned } = await run(role, feeds);
    for (const tensor of Object.values(returned)) if (tensor.type === 'float32') pool.give(tensor.data);
    return float32Of(outputs, output);
  };
  const imageTensor = (data: Floats, batch: number) => float32Tensor(data, [batch, 3, side, side]);
  const encode = async (image: Floats, batch: number): Promise<Floats> =>
    call('vae_encoder', { image: imageTensor(image, batch) }, 'latent');

  return async ({ batch, crops, landmarks, audio: windows }) => {
    const masked = pool.take(batch * cropSize);
    for (let i = 0; i < batch; i++) maskLowerHalf(crops, i * cropSize, side, masked, i * cropSize);
    const encodings = await Promise.all([encode(masked, batch), encode(crops, batch)]);
    const both = pool.take(batch * 2 * latentSize);
    encodings.forEach((encoding, part) => {
      // Mean and log-variance are stacked on channels; the mean alone makes results repeatable.
      const stride = encoding.length / batch;
      for (let i = 0; i < batch; i++) {
        copyScaled(encoding, i * stride, latentSize, latent.scale, both, (2 * i + part) * latentSize);
      }
      pool.give(encoding);
    });

    if (audio.positionalEncoding === 'outside') addToEach(windows, positions);
    const { channels, height, width } = latent;
    const clean = await call(
      'unet',
      {
        latent: float32Tensor(both, [batch, 2 * channels, height, width]),
        timestep: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(timestep)) },
        audio: float32Tensor(windows, [batch, tokens, audio.width]),
        ...(wantsLandmarks && { landmarks: float32Tensor(landmarks, [batch, 68, 2]) }),
      },
      'latent',
    );
    copyScaled(clean, 0, clean.length, 1 / latent.scale, clean, 0);
    return call('vae_decoder', { latent: float32Tensor(clean, [batch, channels, height, width]) }, 'image');
  };
}

function copyScaled(
  source: Float32Array,
  from: number,
  count: number,
  scale: number,
  target: Float32Array,
  to: number,
): void {
  for (let i = 0; i < count; i++) target[to + i] = (source[from + i] ?? 0) * scale;
}

/** Adds `term` to every consecutive stretch of its length. */
function addToEach(values: Float32Array, term: Float32Array): void {
  for (let start = 0; start < values.length; start += term.length) {
    for (let i = 0; i < term.length; i++) values[start + i] = (values[start + i] ?? 0) + (term[i] ?? 0);
  }
}
