import { LANDMARK_COUNT } from '@lipsync/lipsync';
import { type MusetalkManifest, type Pack } from '@lipsync/model-pack';
import { createArrayPool } from '../array-pool';
import { type RunModel } from '../../packs/run-model';
import { type LipSyncEngine } from '../engine';
import { createAudioFeatures } from '../audio/audio-features';
import { createFaceGenerator } from './face-generator';
import { createMusetalkClip } from './musetalk-clip';

/** Frames per call of the graphs. */
const BATCH_SIZE = 8;
/** Spare arrays per length; two batches in flight need no more. */
const SPARES = 6;

/** MuseTalk 1.5: every output frame is generated on its own, from its source frame and 200 ms of audio around it. */
export function createMusetalk(pack: Pack<MusetalkManifest>, run: RunModel): LipSyncEngine {
  const { params } = pack.manifest;
  const pool = createArrayPool(SPARES);
  const generate = createFaceGenerator(pack.manifest, run, pool);
  return {
    async open(clip) {
      const features = createAudioFeatures(clip.audio, params.audio, 'zeros', run);
      // The first half minute is encoded now, so that a pack that cannot hear fails before any frame is decoded.
      await features.readWindows([0], new Float32Array(features.windowSize));
      return createMusetalkClip(clip, {
        batchSize: BATCH_SIZE,
        side: params.resolution,
        newCrops: () => pool.take(BATCH_SIZE * 3 * params.resolution ** 2),
        newLandmarks: () => pool.take(BATCH_SIZE * LANDMARK_COUNT * 2),
        recycle: (array) => pool.give(array),
        async generate(crops, landmarks, outputFrames) {
          const audio = pool.take(BATCH_SIZE * features.windowSize);
          await features.readWindows(outputFrames, audio);
          audio.fill(0, outputFrames.length * features.windowSize);
          return generate({ batch: BATCH_SIZE, crops, landmarks, audio });
        },
      });
    },
  };
}
