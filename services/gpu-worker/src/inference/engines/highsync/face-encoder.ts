import { type HighsyncFaces } from '@lipsync/lipsync';
import { type FaceEncoder } from '../engine';
import { type EncodeFace } from './face-latents';
import { createInOrder } from '../in-order';
import { type KeptLatents } from './kept-latents';

/** Faces that are encoded while the next frame is decoded. */
const ENCODING = 2;

/** Encodes every face of a video that is not kept yet, frame by frame, for a preparation. */
export function createFaceEncoder(
  { shots }: Pick<HighsyncFaces, 'shots'>,
  kept: KeptLatents,
  encode: EncodeFace,
): FaceEncoder {
  const encoding = createInOrder<readonly [number, Float32Array]>(ENCODING, ([source, latent]) =>
    kept.keep(source, latent),
  );
  return {
    async add(frame, sourceIndex) {
      if ((shots[sourceIndex] ?? -1) < 0 || kept.find(sourceIndex)) return;
      await encoding.add(async () => [sourceIndex, await encode(frame, sourceIndex)]);
    },
    flush: () => encoding.finish(),
  };
}
