import { type Box, createCropFace, HALF_MASK_VALUES, type PictureFormat } from '@lipsync/kernels';
import { type ClipInput, type FaceEncoder, type FrameFeatures } from '../engine';
import { createInOrder } from '../in-order';
import { copyScaledMean } from '../latents';
import { type ArrayPool, createArrayPool, float32Of, float32Tensor, type RunModel, uint8Of } from '../model';
import { type FaceAt, type SourceFace } from './faces';
import { facesParsedAtOnce, type MusetalkManifest } from './manifest';
import { createCropForParsing, createParsedMask, PARSING_SIDE } from './parsing';

/** One batch is computed and one waits, while frames for the next are decoded. */
const BATCHES_IN_FLIGHT = 2;

/** Computes the features that are not stored yet for every face of a video, for a preparation. */
export function createMusetalkEncoder(
  { format, features }: Pick<ClipInput, 'format' | 'features'>,
  faceAt: FaceAt,
  faceFeatures: FaceFeatures,
  batchSize: number,
): FaceEncoder {
  const records = createFeatureRecords(features, faceFeatures);
  const cutFace = faceFeatures.cutter(format);
  const computing = createInOrder<void>(BATCHES_IN_FLIGHT, () => undefined);
  let cut: CutFaces | undefined;
  let sources: number[] = [];

  const compute = async (faces: CutFaces, sourceIndices: readonly number[]): Promise<void> => {
    const latents = new Float32Array(batchSize * faceFeatures.latentValues);
    const masks = new Float32Array(batchSize * faceFeatures.maskValues);
    await faceFeatures.compute(faces, latents, masks);
    sourceIndices.forEach((sourceIndex, slot) => records.write(sourceIndex, slot, latents, masks));
  };
  const send = async (): Promise<void> => {
    const [faces, sourceIndices] = [cut, sources];
    cut = undefined;
    sources = [];
    if (faces) await computing.add(() => compute(faces, sourceIndices));
  };

  return {
    lacks: (sourceIndex) => faceAt(sourceIndex) !== null && !features.has(sourceIndex),
    async add(frame, sourceIndex) {
      const face = faceAt(sourceIndex);
      if (face === null || features.has(sourceIndex)) return;
      cut ??= faceFeatures.newCut();
      cutFace(frame, face, cut, sources.length, true);
      if (sources.push(sourceIndex) === batchSize) await send();
    },
    async flush() {
      await send();
      await computing.finish();
    },
  };
}

type Floats = Float32Array<ArrayBuffer>;

/** In the parser's input and output for a face. */
const CLASS_VALUES = PARSING_SIDE * PARSING_SIDE;
const SQUARE_VALUES = 3 * CLASS_VALUES;

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
  const parsedAtOnce = roles.face_parsing ? facesParsedAtOnce(roles.face_parsing, params) : 0;
  const parses = parsedAtOnce > 0;
  // For every call of the batches in flight.
  const squares = createArrayPool(parses ? (3 * batch) / parsedAtOnce : 0);
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

  async function parse({ toParse }: CutFaces, masks: Floats): Promise<void> {
    for (const { faces, images } of toParse) {
      for (let i = faces.length; i < parsedAtOnce; i++)
        images.copyWithin(i * SQUARE_VALUES, 0, SQUARE_VALUES);
      const image = float32Tensor(images, [parsedAtOnce, 3, PARSING_SIDE, PARSING_SIDE]);
      const { outputs, feeds } = await run('face_parsing', { image });
      squares.give(float32Of(feeds, 'image'));
      const classes = uint8Of(outputs, 'classes');
      faces.forEach(({ slot, box }, i) => {
        const own = classes.subarray(i * CLASS_VALUES, (i + 1) * CLASS_VALUES);
        maskOf?.(own, box, masks, slot * HALF_MASK_VALUES);
      });
    }
  }

  /** The squares of the parser's next call that has room for a face. */
  function openSquares({ toParse }: CutFaces): Squares {
    const last = toParse.at(-1);
    if (last && last.faces.length < parsedAtOnce) return last;
    const next = { faces: [], images: squares.take(parsedAtOnce * SQUARE_VALUES) };
    toParse.push(next);
    return next;
  }

  return {
    latentValues: 2 * latentSize,
    maskValues: parses ? HALF_MASK_VALUES : 0,
    newCut: () => ({ faces: [], toParse: [], crops: pool.take(batch * cropSize) }),
    cutter(format) {
      const cropFace = createCropFace(format, side);
      const cropForParsing = parses ? createCropForParsing(format) : undefined;
      return (frame, { box }, cut, slot, parse) => {
        cropFace(frame, box, cut.crops, cut.faces.length * cropSize);
        const face = { slot, box, isParsed: parse && parses };
        cut.faces.push(face);
        if (!face.isParsed) return;
        const { faces, images } = openSquares(cut);
        cropForParsing?.(frame, box, images, faces.length * SQUARE_VALUES);
        faces.push(face);
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

/** The stored features of a clip as slots of a batch: a record holds the latents and then, if parsed, the mask. */
export interface FeatureRecords {
  has(sourceIndex: number): boolean;
  read(sourceIndex: number, slot: number, latents: Float32Array, masks: Float32Array): void;
  write(sourceIndex: number, slot: number, latents: Float32Array, masks: Float32Array): void;
}

export function createFeatureRecords(
  features: FrameFeatures,
  { latentValues, maskValues }: FaceFeatures,
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

interface CroppedFace {
  /** The slot that its features are written to. */
  readonly slot: number;
  readonly box: Box;
  /** Not where there is no parser, or the mask is already known. */
  readonly isParsed: boolean;
}

/** What a call of the parser sees. */
interface Squares {
  readonly faces: CroppedFace[];
  readonly images: Floats;
}

/** Faces copied out of their frames, before their features are computed. */
export interface CutFaces {
  readonly faces: CroppedFace[];
  /** The faces that are parsed, by the calls of the parser. */
  readonly toParse: Squares[];
  /** [batch, 3, side, side] in [-1, 1]. */
  readonly crops: Floats;
}

/**
 * Sets the lower half (rows size/2 …) of the [3, size, size] crop at `offset` to −1, the value of black in [-1, 1], so
 * that the generator sees the frame that it must complete.
 */
export function maskLowerHalf(crops: Float32Array, offset: number, size: number): void {
  const area = size * size;
  const upper = (size / 2) * size;
  for (let channel = 0; channel < 3; channel++) {
    const plane = offset + channel * area;
    crops.fill(-1, plane + upper, plane + area);
  }
}
