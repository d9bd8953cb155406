import { type FrameFeatures } from '../engine';
import { type FaceFeatures } from './face-features';

/** The stored features of a clip as slots of a batch: a record holds the latents and then, if parsed, the mask. */
export interface FeatureRecords {
  has(sourceIndex: number): boolean;
  read(sourceIndex: number, slot: number, latents: Float32Array, masks: Float32Array): void;
  write(sourceIndex: number, slot: number, latents: Float32Array, masks: Float32Array): void;
}

export function createFeatureRecords(
  features: FrameFeatures,
  { latentValues, maskValues }: Pick<FaceFeatures, 'latentValues' | 'maskValues'>,
): FeatureRecords {
  const record = new Float32Array(maskValues === 0 ? 0 : latentValues + maskValues);
  const latentPart = record.subarray(0, latentValues);
  const maskPart = record.subarray(latentValues);
  return {
    has: (sourceIndex) => features.has(sourceIndex),
    read(sourceIndex, slot, latents, masks) {
      if (maskValues === 0) {
        features.read(sourceIndex, latents, slot * latentValues);
        return;
      }
      features.read(sourceIndex, record, 0);
      latents.set(latentPart, slot * latentValues);
      masks.set(maskPart, slot * maskValues);
    },
    write(sourceIndex, slot, latents, masks) {
      const at = slot * latentValues;
      if (maskValues === 0) {
        features.write(sourceIndex, latents, at);
        return;
      }
      latentPart.set(latents.subarray(at, at + latentValues));
      maskPart.set(masks.subarray(slot * maskValues, (slot + 1) * maskValues));
      features.write(sourceIndex, record, 0);
    },
  };
}
