import { type Affine, type AlignedCrop } from '@lipsync/lipsync';
import { type FaceEncoder, type FrameFeatures } from '../engine';
import { createInOrder } from '../in-order';
import { type EncodeFace } from './face-latents';

type Floats = Float32Array<ArrayBuffer>;

/** Faces that are encoded while the next frame is decoded. */
const ENCODING = 2;

export interface FaceEncoderParts {
  readonly features: FrameFeatures;
  /** From a source frame to its crop; null where there is no face. */
  readonly transformOf: (source: number) => Affine | null;
  readonly crop: AlignedCrop;
  readonly newCrop: () => Floats;
  readonly encode: EncodeFace;
}

/** Encodes every face of a video that is not kept yet, frame by frame, for a preparation. */
export function createFaceEncoder({
  features,
  transformOf,
  crop,
  newCrop,
  encode,
}: FaceEncoderParts): FaceEncoder {
  const encoding = createInOrder<readonly [number, Floats]>(ENCODING, ([source, latents]) =>
    features.write(source, latents, 0),
  );
  return {
    async add(frame, source) {
      const transform = transformOf(source);
      if (transform === null || features.has(source)) return;
      await encoding.add(async () => {
        const cropped = newCrop();
        crop(frame, transform, cropped, 0);
        return [source, await encode(cropped)];
      });
    },
    flush: () => encoding.finish(),
  };
}
