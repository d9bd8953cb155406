import { type CallRole } from '../call-role';
import { positionalEncoding } from '../speech/positional-encoding';
import { WINDOW_STEPS } from '../speech/whisper-window';
import { float32Of, float32Tensor } from '../tensors';
import { type MusetalkManifest } from './musetalk-manifest';

type Floats = Float32Array<ArrayBuffer>;

/** One full batch; its arrays are transferred to the graphs and unusable after the call. */
export interface GeneratorInput {
  /** [batch, 2·channels, height, width]: latents of the crop without and with its lower half. */
  readonly latents: Floats;
  /** [batch, 68, 2] in pixels of the crop. */
  readonly landmarks: Floats;
  /** [batch, 10 steps × states, width] without positional encoding. */
  readonly audio: Floats;
}

/**
 * MuseTalk's forward pass: one step of the network at a fixed timestep, conditioned on the audio window, then decoded.
 * Resolves to [batch, 3, side, side] in [-1, 1].
 */
export type GenerateFaces = (input: GeneratorInput) => Promise<Floats>;

export function createFaceGenerator({ params, roles }: MusetalkManifest, call: CallRole): GenerateFaces {
  const { batch, latent, audio, timestep } = params;
  const { channels, height, width } = latent;
  const tokens = WINDOW_STEPS * audio.states;
  const positions = positionalEncoding(tokens, audio.width);
  const wantsLandmarks = roles.unet.inputs.landmarks !== undefined;

  return async ({ latents, landmarks, audio: windows }) => {
    if (audio.positionalEncoding === 'outside') addToEach(windows, positions);
    const outputs = await call('unet', {
      latent: float32Tensor(latents, [batch, 2 * channels, height, width]),
      timestep: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(timestep)) },
      audio: float32Tensor(windows, [batch, tokens, audio.width]),
      ...(wantsLandmarks && { landmarks: float32Tensor(landmarks, [batch, 68, 2]) }),
    });
    const clean = float32Of(outputs, 'latent');
    for (let i = 0; i < clean.length; i++) clean[i] = (clean[i] ?? 0) / latent.scale;
    const decoded = await call('vae_decoder', {
      latent: float32Tensor(clean, [batch, channels, height, width]),
    });
    return float32Of(decoded, 'image');
  };
}

/** Adds `term` to each consecutive block of its length. */
function addToEach(values: Float32Array, term: Float32Array): void {
  for (let start = 0; start < values.length; start += term.length) {
    for (let i = 0; i < term.length; i++) values[start + i] = (values[start + i] ?? 0) + (term[i] ?? 0);
  }
}
