import { type FrameFeatures } from '../engine';
import { type FeatureLayout } from '../feature-layout';
import { type HighsyncFaces } from './highsync-faces';
import { type HighsyncParams } from './highsync-params';

type Floats = Float32Array<ArrayBuffer>;

/** Number of values stored after every latent: the corners of the crop that it was made from. */
const CORNERS = 4;

/** Clean latents that outlive the clip. */
export interface KeptLatents {
  /**
   * The latent of a source frame, in memory that the next call reuses; null when there is none, or when it was made
   * from a different crop than the current one.
   */
  find(sourceIndex: number): Floats | null;
  keep(sourceIndex: number, latent: Float32Array): void;
}

/** What highsync keeps per source frame: its latent and the crop. */
export function keptLayout({ channels, height, width }: HighsyncParams['latent']): FeatureLayout {
  return { version: '1', values: channels * height * width + CORNERS };
}

/**
 * Compares the crop because it depends on the whole shot: a track that was made for a shorter output may not have
 * included the frame that determines the shot's height.
 */
export function createKeptLatents(
  layout: FeatureLayout,
  features: FrameFeatures,
  { crops }: Pick<HighsyncFaces, 'crops'>,
): KeptLatents {
  const { values } = layout;
  const size = values - CORNERS;
  const record = new Float32Array(values);
  const latentPart = record.subarray(0, size);
  const cropOf = (sourceIndex: number): Float32Array =>
    crops.subarray(sourceIndex * CORNERS, (sourceIndex + 1) * CORNERS);
  return {
    find(sourceIndex) {
      if (!features.has(sourceIndex)) return null;
      features.read(sourceIndex, record, 0);
      const crop = cropOf(sourceIndex);
      return crop.every((edge, i) => edge === record[size + i]) ? latentPart : null;
    },
    keep(sourceIndex, latent) {
      latentPart.set(latent);
      record.set(cropOf(sourceIndex), size);
      features.write(sourceIndex, record, 0);
    },
  };
}
