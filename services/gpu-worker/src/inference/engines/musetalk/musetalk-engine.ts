import { LANDMARK_COUNT } from '@lipsync/lipsync';
import { type MusetalkManifest, type Pack } from '@lipsync/model-pack';
import { createArrayPool } from '../array-pool';
import { type RunModel } from '../../packs/run-model';
import { type LipSyncEngine } from '../engine';
import { createAudioFeatures } from '../audio/audio-features';
import { createFaceGenerator } from './face-generator';
import { createMusetalkClip } from './musetalk-clip';

/** Spare arrays per length; two batches in flight need no more. */
const SPARES = 6;

/** MuseTalk: every output frame is generated on its own, from its source frame and 200 ms of audio around it. */
export function createMusetalk(pack: Pack<MusetalkManifest>, run: RunModel): LipSyncEngine {
  const { params } = pack.manifest;
  const pool = createArrayPool(SPARES);
  const generate = createFaceGenerator(pack.manifest, run, pool);
  const { batch } = params;
  return {
    features: { version: '1', values: 0 },
    openEncoder: () => ({ add: async () => undefined, flush: async () => undefined }),
    async open(clip) {
      const features = createAudioFeatures(clip.audio, params.audio, 'zeros', run);
      // The first half minute is encoded now, so that a pack that cannot hear fails before any frame is decoded.
      await features.readWindows([0], new Float32Array(features.windowSize));
      return createMusetalkClip(clip, {
        batchSize: batch,
        side: params.resolution,
        placement: params.crop,
        newCrops: () => pool.take(batch * 3 * params.resolution ** 2),
        newLandmarks: () => pool.take(batch * LANDMARK_COUNT * 2),
        recycle: (array) => pool.give(array),
        async generate(crops, landmarks, outputFrames) {
          const audio = pool.take(batch * features.windowSize);
          await features.readWindows(outputFrames, audio);
          audio.fill(0, outputFrames.length * features.windowSize);
          return generate({ batch, crops, landmarks, audio });
        },
      });
    },
  };
}
