import { createPasteFace } from '@lipsync/kernels';
import { type ClipInput, type EngineClip, type LipSyncEngine } from '../engine';
import {
  type CallRole,
  createArrayPool,
  createCallRole,
  float32Of,
  float32Tensor,
  type RunModel,
} from '../model';
import { type Pack } from '../packs';
import { encodeSpeech } from '../speech/speech-features';
import { positionalEncoding, WINDOW_STEPS } from '../speech/windows';
import { type BatchParts, WaitingFaces } from './face-batch';
import { createSourceFaces } from './faces';
import { createFaceFeatures, createFeatureRecords, createMusetalkEncoder } from './features';
import { type MusetalkManifest, type MusetalkParams } from './manifest';
import { createFaceMasks } from './mask';

/** Spare arrays per length; two batches in flight need no more. */
const SPARES = 6;

/** Changes whenever the stored values change their meaning: two scaled latents, and a parsed mask before blurring. */
const FEATURES_VERSION = '1';

/**
 * MuseTalk 1.0 and 1.5 (github.com/TMElyralab/MuseTalk): generates every output frame independently, from its source
 * frame and 200 ms of audio around it.
 */
export function createMusetalk({ manifest }: Pack<MusetalkManifest>, run: RunModel) {
  const { params } = manifest;
  const { batch } = params;
  const pool = createArrayPool(SPARES);
  const call = createCallRole(run, pool);
  const faceFeatures = createFaceFeatures(manifest, run, pool);
  const generate = createFaceGenerator(manifest, call);
  return {
    features: {
      version: FEATURES_VERSION,
      values: faceFeatures.latentValues + faceFeatures.maskValues,
    },

    async open(clip) {
      const speech = await encodeSpeech(clip, params.audio, 'zeros', run);
      return createMusetalkClip(clip, {
        params,
        faceFeatures,
        take: (length) => pool.take(length),
        give: (array) => pool.give(array),
        async generate(latents, landmarks, outputFrames) {
          const audio = pool.take(batch * speech.windowSize);
          const windows = await speech.load(outputFrames[0] ?? 0, outputFrames.at(-1) ?? 0);
          outputFrames.forEach((output, i) => windows.write(output, audio, i * speech.windowSize));
          audio.fill(0, outputFrames.length * speech.windowSize);
          return generate({ latents, landmarks, audio });
        },
      });
    },

    openEncoder: (video) =>
      createMusetalkEncoder(video, {
        batchSize: batch,
        faceAt: createSourceFaces(video.track, params.crop),
        faceFeatures,
      }),
  } satisfies LipSyncEngine;
}

export interface MusetalkClip extends EngineClip {
  newBatch(): WaitingFaces;
}

interface MusetalkClipParts extends Pick<BatchParts, 'faceFeatures' | 'take' | 'give' | 'generate'> {
  readonly params: Pick<MusetalkParams, 'batch' | 'resolution' | 'crop' | 'mask'>;
}

/** Crops before the generator and pastes after it, for one clip. Frames without a face are left alone. */
function createMusetalkClip(
  { track, sources, format, features }: Pick<ClipInput, 'track' | 'sources' | 'format' | 'features'>,
  { params, ...parts }: MusetalkClipParts,
): MusetalkClip {
  const { batch: batchSize, resolution: side } = params;
  const { faceFeatures } = parts;
  const faceAt = createSourceFaces(track, params.crop);
  const batchParts: BatchParts = {
    ...parts,
    batchSize,
    side,
    faceOf: (outputIndex) => faceAt(sources[outputIndex] ?? -1),
    records: createFeatureRecords(features, faceFeatures),
    masks: createFaceMasks(params, faceFeatures.maskValues),
    cut: faceFeatures.cutter(format),
    paste: createPasteFace(format, side),
  };

  return {
    batchSize,
    newBatch: () => new WaitingFaces(batchParts),

    enlargement(outputIndex) {
      const face = batchParts.faceOf(outputIndex);
      if (face === null) return 0;
      const { x1, y1, x2, y2 } = face.box;
      return Math.max(x2 - x1, y2 - y1) / side;
    },

    close: async () => undefined,
  };
}

type Floats = Float32Array<ArrayBuffer>;

/** One full batch; its arrays are transferred to the graphs and unusable after the call. */
interface GeneratorInput {
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
type GenerateFaces = (input: GeneratorInput) => Promise<Floats>;

function createFaceGenerator({ params, roles }: MusetalkManifest, call: CallRole): GenerateFaces {
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
