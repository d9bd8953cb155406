import { middleOf } from '@lipsync/domain';
import { createPasteFace } from '@lipsync/kernels';
import { type LipSyncEngine } from '../engine';
import { asksForExemplars, createExemplarFeeds } from '../exemplar-inputs';
import { boxEnlargement } from '../face/landmarks';
import { type MouthExemplars, mouthsAt } from '../face/mouth-exemplars';
import {
  type CallRole,
  createArrayPool,
  createCallRole,
  float32Of,
  float32Tensor,
  type RunModel,
  type Tensors,
} from '../model';
import { type Pack } from '../packs';
import { encodeSpeech } from '../speech/speech-features';
import { positionalEncoding, WINDOW_STEPS } from '../speech/windows';
import { type BatchParts, WaitingFaces } from './face-batch';
import { createSourceFaces } from './faces';
import { createFaceFeatures, createFeatureRecords, createMusetalkEncoder } from './features';
import { type MusetalkManifest } from './manifest';
import { createFaceMasks } from './mask';

/** Spare arrays per length: two for the pictures of each batch in flight, and those that are cut out and pasted. */
const SPARES = 8;

/** Changes whenever the stored values change their meaning: two scaled latents, and a parsed mask before blurring. */
const FEATURES_VERSION = '1';

/**
 * MuseTalk 1.0 and 1.5 (github.com/TMElyralab/MuseTalk): generates every output frame independently, from its source
 * frame and 200 ms of audio around it.
 */
export function createMusetalk({ manifest }: Pack<MusetalkManifest>, run: RunModel) {
  const { params } = manifest;
  const { batch, resolution: side } = params;
  const pool = createArrayPool(SPARES);
  const faceFeatures = createFaceFeatures(manifest, run, pool);
  const exemplarFeeds = createExemplarFeeds(manifest.roles.unet, pool);
  const wantsExemplars = asksForExemplars(manifest.roles.unet);
  const generate = createFaceGenerator(manifest, exemplarFeeds, createCallRole(run, pool));
  return {
    features: {
      version: FEATURES_VERSION,
      values: faceFeatures.latentValues + faceFeatures.maskValues,
    },
    wantsExemplars,

    open(clip) {
      const speech = encodeSpeech(clip, params.audio, 'zeros', run);
      const faceAt = createSourceFaces(clip.track, params.crop);
      const parts: BatchParts = {
        batchSize: batch,
        side,
        pool,
        faceOf: (output) => faceAt(clip.sources[output] ?? -1),
        lookOf: (output) => (wantsExemplars ? (clip.track.looks[clip.sources[output] ?? -1] ?? 0) : 0),
        faceFeatures,
        records: createFeatureRecords(clip.features, faceFeatures),
        masks: createFaceMasks(params.mask, faceFeatures.maskValues),
        cut: faceFeatures.cutter(clip.format),
        paste: createPasteFace(clip.format, side),
        async generate(latents, landmarks, outputs) {
          const mouths = await mouthsAt(clip, clip.sources[outputs[0] ?? -1] ?? -1);
          const audio = pool.take(batch * speech.windowSize);
          const instants = outputs.map((output) => middleOf(clip.clock, output));
          const windows = await speech.load(instants[0] ?? 0, instants.at(-1) ?? 0);
          instants.forEach((instant, i) => windows.write(instant, audio, i * speech.windowSize));
          audio.fill(0, outputs.length * speech.windowSize);
          return generate({ latents, landmarks, audio }, mouths);
        },
      };
      return {
        batchSize: batch,
        newBatch: () => new WaitingFaces(parts),
        enlargement(output) {
          const face = parts.faceOf(output);
          return face === null ? 0 : boxEnlargement(face.box, side);
        },
        close: () => speech.ended(),
      };
    },

    openEncoder: (video) =>
      createMusetalkEncoder(video, createSourceFaces(video.track, params.crop), faceFeatures, batch),
  } satisfies LipSyncEngine;
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
function createFaceGenerator(
  { params, roles }: MusetalkManifest,
  exemplarFeeds: (mouths: MouthExemplars) => Tensors,
  call: CallRole,
) {
  const { batch, latent, audio, timestep } = params;
  const { channels, height, width } = latent;
  const tokens = WINDOW_STEPS * audio.states;
  const positions = positionalEncoding(tokens, audio.width);
  const wantsLandmarks = roles.unet.inputs.landmarks !== undefined;

  return async (
    { latents, landmarks, audio: windows }: GeneratorInput,
    mouths: MouthExemplars,
  ): Promise<Floats> => {
    if (audio.positionalEncoding === 'outside') addToEach(windows, positions);
    const outputs = await call('unet', {
      latent: float32Tensor(latents, [batch, 2 * channels, height, width]),
      timestep: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(timestep)) },
      audio: float32Tensor(windows, [batch, tokens, audio.width]),
      ...(wantsLandmarks && { landmarks: float32Tensor(landmarks, [batch, 68, 2]) }),
      ...exemplarFeeds(mouths),
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
