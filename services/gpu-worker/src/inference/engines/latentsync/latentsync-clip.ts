import { type Affine, type AlignedCrop, type AlignedPaste } from '@lipsync/lipsync';
import { type ClipInput, type EngineClip } from '../engine';
import { eachInTurn } from './each-in-turn';
import { type EncodeFace } from './face-latents';
import { DecodedFaces, FaceWindow, type WantedFace } from './face-window';

type Floats = Float32Array<ArrayBuffer>;

export interface LatentsyncClipParts {
  /** Frames of the longest window. */
  readonly window: number;
  /** The stretch that an output frame belongs to, see `outputStretches`. */
  stretchOf(output: number): number;
  /** From a source frame to its crop; null where there is no face. */
  transformOf(source: number): Affine | null;
  /** See EngineClip, of a source frame. */
  enlargementOf(source: number): number;
  readonly crop: AlignedCrop;
  readonly paste: AlignedPaste;
  newCrop(): Floats;
  /** An array for what is known of a source frame once it is encoded. */
  newLatents(): Floats;
  readonly encode: EncodeFace;
  /** The new crops of a window, [3, side, side] in [-1, 1] each; has done with the latents when it resolves. */
  generate(faces: readonly WantedFace[], latents: readonly Floats[]): Promise<readonly Floats[]>;
  /** Takes back the memory of a crop or of latents. */
  give(array: Floats): void;
}

/** Cropping before and pasting after the network, for one clip. Frames without a face are left alone. */
export function createLatentsyncClip(
  { sources, features, signal }: Pick<ClipInput, 'sources' | 'features' | 'signal'>,
  parts: LatentsyncClipParts,
): EngineClip {
  const see = (source: number, frame: Uint8Array, transform: Affine): WantedFace['seen'] => {
    if (features.has(source)) {
      const latents = parts.newLatents();
      features.read(source, latents, 0);
      return { latents };
    }
    const crop = parts.newCrop();
    parts.crop(frame, transform, crop, 0);
    return { crop };
  };
  const latentsOf = async ({ source, seen }: WantedFace): Promise<Floats> => {
    if ('latents' in seen) return seen.latents;
    const latents = await parts.encode(seen.crop);
    features.write(source, latents, 0);
    return latents;
  };

  return {
    batchSize: parts.window,
    newBatch: () => new FaceWindow(parts.window),

    joins(batch, output) {
      const last = expectWindow(batch).faces.at(-1)?.output;
      return last === undefined || parts.stretchOf(output) === parts.stretchOf(last);
    },

    take(batch, frame, output) {
      const { faces, capacity, size } = expectWindow(batch);
      const source = sources[output] ?? -1;
      const transform = parts.transformOf(source);
      if (transform === null) return null;
      if (size >= capacity) throw new RangeError('the batch is full');
      faces.push({ output, source, transform, seen: see(source, frame, transform) });
      return size;
    },

    enlargement: (output) => parts.enlargementOf(sources[output] ?? -1),

    async infer(batch) {
      const { faces } = expectWindow(batch);
      const latents = await eachInTurn(faces, latentsOf, signal);
      const images = await parts.generate(faces, latents);
      for (const array of latents) parts.give(array);
      return new DecodedFaces(faces, images);
    },

    put(generated, slot, frame) {
      const { faces, images } = expectFaces(generated);
      const [face, image] = [faces[slot], images[slot]];
      if (!face || !image) throw new RangeError(`slot ${slot} holds no face`);
      parts.paste(frame, face.transform, image, 0);
    },

    recycle: (generated) => expectFaces(generated).images.forEach((image) => parts.give(image)),
    close: async () => undefined,
  };
}

function expectWindow(batch: unknown): FaceWindow {
  if (batch instanceof FaceWindow) return batch;
  throw new TypeError('this batch belongs to another engine');
}

function expectFaces(faces: unknown): DecodedFaces {
  if (faces instanceof DecodedFaces) return faces;
  throw new TypeError('these faces belong to another engine');
}
