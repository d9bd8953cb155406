import { type Box, createCropFace, HALF_MASK_VALUES, type PictureFormat } from '@lipsync/kernels';
import { type ClipInput, type FaceEncoder, type FrameFeatures } from '../engine';
import { allEnded, createInOrder } from '../in-order';
import { copyScaledMean, fillUp } from '../latents';
import {
  type ArrayPool,
  createArrayPool,
  float32Of,
  float32Tensor,
  giveAll,
  type RunModel,
  uint8Of,
} from '../model';
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
    await allEnded(Object.values(faceFeatures.compute(faces, latents, masks)));
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
  compute(cut: CutFaces, latents: Floats, masks: Floats): ComputedFeatures;
}

/** Both are in progress at once: what a graph gives waits for nothing but that graph. Await both, even if one fails. */
interface ComputedFeatures {
  /** All latents are written. */
  readonly encoded: Promise<void>;
  /** All masks are written. */
  readonly parsed: Promise<void>;
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

  /** Encodes images into one part of each face's latents. */
  async function encode(images: Floats, faces: readonly CroppedFace[], part: 0 | 1, latents: Floats) {
    const image = float32Tensor(images, [batch, 3, side, side]);
    const { outputs, feeds } = await run('vae_encoder', { image }, (length) => pool.take(length));
    const encoded = float32Of(outputs, 'latent');
    const stride = encoded.length / batch;
    faces.forEach(({ slot }, i) => {
      const target = (2 * slot + part) * latentSize;
      copyScaledMean(encoded, i * stride, latentSize, latent.scale, latents, target);
    });
    pool.give(encoded);
    giveAll(feeds, pool);
  }

  async function encodeBoth({ faces, crops }: CutFaces, latents: Floats): Promise<void> {
    fillUp(crops, cropSize, faces.length);
    const upper = pool.take(crops.length);
    for (let at = 0; at < crops.length; at += side * side) copyUpperHalf(crops, upper, at, side);
    await allEnded([encode(crops, faces, 1, latents), encode(upper, faces, 0, latents)]);
  }

  async function parse({ faces, images }: Squares, masks: Floats): Promise<void> {
    fillUp(images, SQUARE_VALUES, faces.length);
    const image = float32Tensor(images, [parsedAtOnce, 3, PARSING_SIDE, PARSING_SIDE]);
    const { outputs, feeds } = await run('face_parsing', { image });
    giveAll(feeds, squares);
    const classes = uint8Of(outputs, 'classes');
    faces.forEach(({ slot, box }, i) => {
      const own = classes.subarray(i * CLASS_VALUES, (i + 1) * CLASS_VALUES);
      maskOf?.(own, box, masks, slot * HALF_MASK_VALUES);
    });
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
    compute(cut, latents, masks) {
      if (cut.faces.length === 0) {
        pool.give(cut.crops);
        return { encoded: Promise.resolve(), parsed: Promise.resolve() };
      }
      // The generator waits for the latents alone: they come first.
      const encoded = encodeBoth(cut, latents);
      const parsed = allEnded(cut.toParse.map((squares) => parse(squares, masks)));
      return { encoded, parsed: parsed.then(() => undefined) };
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
 * Copies the upper half (rows 0 … size/2 − 1) of the [size, size] plane at `offset`; the lower one becomes −1, the value
 * of black in [-1, 1], so that the generator sees the frame that it must complete.
 */
function copyUpperHalf(from: Float32Array, to: Float32Array, offset: number, size: number): void {
  const middle = offset + (size / 2) * size;
  to.set(from.subarray(offset, middle), offset);
  to.fill(-1, middle, offset + size * size);
}
