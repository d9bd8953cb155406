import { createCropFace, HALF_MASK_VALUES, type PictureFormat } from '@lipsync/kernels';
import { type ArrayPool, createArrayPool } from '../array-pool';
import { type RunModel } from '../run-model';
import { copyScaledMean } from '../scaled-mean';
import { float32Of, float32Tensor } from '../tensors';
import { CutFaces } from './cut-faces';
import { maskLowerHalf } from './lower-half-mask';
import { type MusetalkManifest } from './musetalk-manifest';
import { createParsedMask } from './parsed-mask';
import { createCropForParsing, PARSING_SIDE } from './parsing-square';
import { type SourceFace } from './source-faces';

type Floats = Float32Array<ArrayBuffer>;

const PARSED_VALUES = 3 * PARSING_SIDE * PARSING_SIDE;

/** Batches parsed at once, one face per call; the parser's output for one face takes 20 MB. */
const PARSERS = 2;

/**
 * What MuseTalk derives from a source frame alone: latents, and the parsed region of the face if the pack has a parser.
 */
export interface FaceFeatures {
  /** Number of floats in a face's two latents: of the crop without its lower half, then of the whole crop. */
  readonly latentValues: number;
  /** Number of floats in the lower half of the hard mask; 0 when the pack has no parser. */
  readonly maskValues: number;
  newCut(): CutFaces;
  /** Returns a function that copies what `compute` needs out of pictures of this format. */
  cutter(format: PictureFormat): CutFace;
  /**
   * Computes the features of all cut faces, each into its slot of [slots, latentValues] and [slots, maskValues]; the
   * mask only for faces that were cut for parsing. The cut cannot be used again.
   */
  compute(cut: CutFaces, latents: Floats, masks: Floats): Promise<void>;
}

/** With `parse`, also copies what the mask needs, if the pack has a parser. */
export type CutFace = (
  frame: Uint8Array,
  face: SourceFace,
  cut: CutFaces,
  slot: number,
  parse: boolean,
) => void;

export function createFaceFeatures(
  { params, roles }: MusetalkManifest,
  run: RunModel,
  pool: ArrayPool,
): FaceFeatures {
  const { resolution: side, latent, batch } = params;
  const cropSize = 3 * side * side;
  const latentSize = latent.channels * latent.height * latent.width;
  const parses = roles.face_parsing !== undefined;
  // One square per face of every batch in flight.
  const squares = createArrayPool(3 * batch);
  const parsings = createArrayPool(PARSERS);
  const maskOf = parses ? createParsedMask(params.mask) : undefined;

  /** Encodes images into one part of each face's latents and returns the images. */
  async function encode(images: Floats, { faces }: CutFaces, part: 0 | 1, latents: Floats): Promise<Floats> {
    const image = float32Tensor(images, [batch, 3, side, side]);
    const { outputs, feeds } = await run('vae_encoder', { image }, (length) => pool.take(length));
    const encoded = float32Of(outputs, 'latent');
    const stride = encoded.length / batch;
    faces.forEach(({ slot }, i) => {
      const target = (2 * slot + part) * latentSize;
      copyScaledMean(encoded, i * stride, latentSize, latent.scale, latents, target);
    });
    pool.give(encoded);
    return float32Of(feeds, 'image');
  }

  /** In sequence, in the same memory: the lower halves are blackened once the whole faces are encoded. */
  async function encodeBoth(cut: CutFaces, latents: Floats): Promise<void> {
    // Pad the batch, so that the graphs always see one shape.
    for (let i = cut.faces.length; i < batch; i++) cut.crops.copyWithin(i * cropSize, 0, cropSize);
    const crops = await encode(cut.crops, cut, 1, latents);
    for (let i = 0; i < batch; i++) maskLowerHalf(crops, i * cropSize, side);
    pool.give(await encode(crops, cut, 0, latents));
  }

  async function parse({ faces }: CutFaces, masks: Floats): Promise<void> {
    for (const { slot, box, square } of faces) {
      if (!square || !maskOf) continue;
      const image = float32Tensor(square, [1, 3, PARSING_SIDE, PARSING_SIDE]);
      const { outputs, feeds } = await run('face_parsing', { image }, (length) => parsings.take(length));
      squares.give(float32Of(feeds, 'image'));
      const scores = float32Of(outputs, 'scores');
      maskOf(scores, box, masks, slot * HALF_MASK_VALUES);
      parsings.give(scores);
    }
  }

  return {
    latentValues: 2 * latentSize,
    maskValues: parses ? HALF_MASK_VALUES : 0,
    newCut: () => new CutFaces(pool.take(batch * cropSize)),
    cutter(format) {
      const cropFace = createCropFace(format, side);
      const cropForParsing = parses ? createCropForParsing(format) : undefined;
      return (frame, { box }, cut, slot, parse) => {
        cropFace(frame, box, cut.crops, cut.faces.length * cropSize);
        const square = parse && cropForParsing ? squares.take(PARSED_VALUES) : undefined;
        if (square) cropForParsing?.(frame, box, square, 0);
        cut.faces.push({ slot, box, square });
      };
    },
    async compute(cut, latents, masks) {
      if (cut.faces.length === 0) {
        pool.give(cut.crops);
        return;
      }
      await encodeBoth(cut, latents);
      await parse(cut, masks);
    },
  };
}
