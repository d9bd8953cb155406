import { createPasteFace } from '@lipsync/kernels';
import { type ClipInput, type EngineClip } from '../engine';
import { type BatchParts, WaitingFaces } from './face-batch';
import { createFaceMasks } from './face-masks';
import { createFeatureRecords } from './feature-records';
import { type MusetalkParams } from './musetalk-params';
import { createSourceFaces } from './source-faces';

export interface MusetalkClip extends EngineClip {
  newBatch(): WaitingFaces;
}

export interface MusetalkClipParts extends Pick<BatchParts, 'faceFeatures' | 'take' | 'give' | 'generate'> {
  readonly params: Pick<MusetalkParams, 'batch' | 'resolution' | 'crop' | 'mask'>;
}

/** Crops before the generator and pastes after it, for one clip. Frames without a face are left alone. */
export function createMusetalkClip(
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
