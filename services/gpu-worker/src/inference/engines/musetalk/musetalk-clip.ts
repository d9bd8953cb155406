import {
  type BlendMask,
  createMaskSoftener,
  createPasteFace,
  HALF_MASK_VALUES,
  LANDMARK_VALUES,
  outlineMask,
} from '@lipsync/lipsync';
import { type MusetalkParams } from '@lipsync/model-pack';
import { writeCropLandmarks } from '../crop-landmarks';
import { type ClipInput, type EngineClip } from '../engine';
import { type FacePlace, PasteableFaces, type WaitingFace, WaitingFaces } from './face-batch';
import { type FaceFeatures } from './face-features';
import { createFeatureRecords } from './feature-records';
import { createMaskCache } from './mask-cache';
import { createSourceFaces } from './source-faces';

type Floats = Float32Array<ArrayBuffer>;

export interface MusetalkClipParts {
  readonly params: Pick<MusetalkParams, 'batch' | 'resolution' | 'crop' | 'mask'>;
  readonly faceFeatures: FaceFeatures;
  /** An array of this length with any content. */
  take(length: number): Floats;
  give(array: Floats): void;
  /** New faces [batch, 3, side, side] for full arrays of latents and landmarks; owns both from then on. */
  generate(latents: Floats, landmarks: Floats, outputFrames: readonly number[]): Promise<Floats>;
}

/** Ten seconds of source frames whose masks are made once while the clip loops: 16 MB. */
const CACHED_MASKS = 256;

/** Cropping before and pasting after the generator, for one clip. Frames without a face are left alone. */
export function createMusetalkClip(
  { track, sources, format, features }: Pick<ClipInput, 'track' | 'sources' | 'format' | 'features'>,
  parts: MusetalkClipParts,
): EngineClip {
  const { params, faceFeatures } = parts;
  const { latentValues, maskValues } = faceFeatures;
  const { batch: batchSize, resolution: side } = params;
  const cropSize = 3 * side * side;
  const faceAt = createSourceFaces(track, params.crop);
  const records = createFeatureRecords(features, faceFeatures);
  const cut = faceFeatures.cutter(format);
  const pasteFace = createPasteFace(format, side);
  const soften = createMaskSoftener(params.mask.blur);
  // A mask must outlive the batches that use it: a few batches are under way at once.
  const masks = createMaskCache(Math.max(CACHED_MASKS, 16 * batchSize));
  const outline = new Float32Array(HALF_MASK_VALUES);

  const maskOf = ({ mask: known, sourceIndex, box }: WaitingFace, slot: number, parsed: Floats): BlendMask =>
    known ??
    masks.get(sourceIndex, (mask) => {
      if (maskValues > 0) {
        soften(parsed, slot * maskValues, box, mask);
        return;
      }
      const face = faceAt(sourceIndex);
      if (face) outlineMask(face.landmarks, box, outline);
      soften(outline, 0, box, mask);
    });

  return {
    batchSize,
    newBatch: () =>
      new WaitingFaces(
        batchSize,
        parts.take(batchSize * LANDMARK_VALUES),
        parts.take(batchSize * latentValues),
        parts.take(batchSize * maskValues),
        faceFeatures.newCut(),
      ),
    // Every frame is generated on its own, so any faces may share a batch.
    joins: () => true,

    take(batch, frame, outputIndex) {
      const waiting = expectBatch(batch);
      const sourceIndex = sources[outputIndex] ?? -1;
      const face = faceAt(sourceIndex);
      if (face === null) return null;
      const slot = waiting.size;
      if (slot >= waiting.capacity) throw new RangeError('the batch is full');
      writeCropLandmarks(face.landmarks, 0, face.box, side, waiting.landmarks, slot * LANDMARK_VALUES);
      const mask = masks.find(sourceIndex);
      const twin = waiting.faces.findIndex((other) => other.sourceIndex === sourceIndex);
      if (twin >= 0) waiting.twins.push({ slot, of: twin });
      else if (records.has(sourceIndex)) records.read(sourceIndex, slot, waiting.latents, waiting.masks);
      else cut(frame, face, waiting.cut, slot, mask === undefined);
      waiting.faces.push({ outputIndex, sourceIndex, box: face.box, mask });
      return slot;
    },

    enlargement(outputIndex) {
      const face = faceAt(sources[outputIndex] ?? -1);
      if (face === null) return 0;
      const { x1, y1, x2, y2 } = face.box;
      return Math.max(x2 - x1, y2 - y1) / side;
    },

    async infer(batch) {
      const waiting = expectBatch(batch);
      const { faces, latents, landmarks, masks: parsed, twins } = waiting;
      await faceFeatures.compute(waiting.cut, latents, parsed);
      for (const { slot, square } of waiting.cut.faces) {
        // Of a face whose mask was known from before nothing is kept: it would have been found there.
        const whole = maskValues === 0 || square !== undefined;
        if (whole) records.write(faces[slot]?.sourceIndex ?? -1, slot, latents, parsed);
      }
      for (const { slot, of } of twins) copySlot(latents, latentValues, of, slot);
      // Padding repeats a real face: graphs may divide by what they measure on it.
      for (let slot = faces.length; slot < batchSize; slot++) {
        copySlot(latents, latentValues, 0, slot);
        copySlot(landmarks, LANDMARK_VALUES, 0, slot);
      }
      const outputFrames = faces.map(({ outputIndex }) => outputIndex);
      const generating = parts.generate(latents, landmarks, outputFrames);
      const places = faces.map((face, slot): FacePlace => ({
        box: face.box,
        mask: maskOf(face, slot, parsed),
      }));
      parts.give(parsed);
      return new PasteableFaces(places, await generating);
    },

    put(generated, slot, frame) {
      const { places, images } = expectFaces(generated);
      const place = places[slot];
      if (place === undefined) throw new RangeError(`slot ${slot} holds no face`);
      pasteFace(frame, place.box, images, slot * cropSize, place.mask);
    },

    recycle: (generated) => parts.give(expectFaces(generated).images),
    close: async () => undefined,
  };
}

function copySlot(values: Floats, size: number, from: number, to: number): void {
  values.copyWithin(to * size, from * size, (from + 1) * size);
}

function expectBatch(batch: unknown): WaitingFaces {
  if (batch instanceof WaitingFaces) return batch;
  throw new TypeError('this batch belongs to another engine');
}

function expectFaces(faces: unknown): PasteableFaces {
  if (faces instanceof PasteableFaces) return faces;
  throw new TypeError('these faces belong to another engine');
}
