import { createArrayPool } from '../array-pool';
import { createCallRole } from '../call-role';
import { type LipSyncEngine } from '../engine';
import { type Pack } from '../packs';
import { type RunModel } from '../run-model';
import { hearSpeech } from '../speech/hear-speech';
import { createFaceFeatures } from './face-features';
import { createFaceGenerator } from './face-generator';
import { createMusetalkClip } from './musetalk-clip';
import { createMusetalkEncoder } from './musetalk-encoder';
import { type MusetalkManifest } from './musetalk-manifest';
import { createSourceFaces } from './source-faces';

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
      const hearing = await hearSpeech(clip, params.audio, 'zeros', run);
      return createMusetalkClip(clip, {
        params,
        faceFeatures,
        take: (length) => pool.take(length),
        give: (array) => pool.give(array),
        async generate(latents, landmarks, outputFrames) {
          const audio = pool.take(batch * hearing.windowSize);
          const heard = await hearing.load(outputFrames[0] ?? 0, outputFrames.at(-1) ?? 0);
          outputFrames.forEach((output, i) => heard.write(output, audio, i * hearing.windowSize));
          audio.fill(0, outputFrames.length * hearing.windowSize);
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
