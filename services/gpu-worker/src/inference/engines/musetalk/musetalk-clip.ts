import {
  blendMask,
  type Box,
  createCropFace,
  createPasteFace,
  type FaceBoxPlacement,
  type FaceTrack,
  LANDMARK_VALUES,
  musetalkBoxes,
} from '@lipsync/lipsync';
import { type ClipInput, type EngineClip } from '../engine';
import { CroppedFaces, PasteableFaces } from './face-batch';

type Floats = Float32Array<ArrayBuffer>;

export interface MusetalkClipParts {
  readonly batchSize: number;
  /** Side of a crop, pixels. */
  readonly side: number;
  /** Where the crop sits on a face. */
  readonly placement: FaceBoxPlacement;
  newCrops(): Floats;
  newLandmarks(): Floats;
  recycle(array: Floats): void;
  /** New faces [batchSize, 3, side, side] for full arrays of crops and landmarks; owns both from then on. */
  generate(crops: Floats, landmarks: Floats, outputFrames: readonly number[]): Promise<Floats>;
}

/** A face smaller than this in the picture has no lips to move. */
const SMALLEST_FACE = 16;

/** Cropping before and pasting after the generator, for one clip. Frames without a face are left alone. */
export function createMusetalkClip(
  { track, sources, format }: ClipInput,
  parts: MusetalkClipParts,
): EngineClip {
  const { side, batchSize } = parts;
  const boxes = musetalkBoxes(track, parts.placement);
  const cropFace = createCropFace(format, side);
  const pasteFace = createPasteFace(format, side);
  const cropSize = 3 * side * side;

  return {
    batchSize,
    newBatch: () => new CroppedFaces(batchSize, parts.newCrops(), parts.newLandmarks()),

    // Every frame is generated on its own, so any faces may share a batch.
    joins: () => true,

    take(batch, frame, outputIndex) {
      const faces = expectBatch(batch);
      const face = faceAt(track, boxes, sources[outputIndex] ?? -1);
      if (face === null) return null;
      const slot = faces.size;
      if (slot >= faces.capacity) throw new RangeError('the batch is full');
      cropFace(frame, face.box, faces.crops, slot * cropSize);
      toCropPixels(face.landmarks, face.box, side, faces.landmarks, slot * LANDMARK_VALUES);
      faces.places.push({ box: face.box, mask: blendMask(face.landmarks, face.box) });
      faces.outputFrames.push(outputIndex);
      return slot;
    },

    async infer(batch) {
      const { crops, landmarks, places, outputFrames, size, capacity } = expectBatch(batch);
      // Padding repeats a real face: graphs may divide by what they measure on it.
      for (let slot = size; slot < capacity; slot++) {
        crops.copyWithin(slot * cropSize, 0, cropSize);
        landmarks.copyWithin(slot * LANDMARK_VALUES, 0, LANDMARK_VALUES);
      }
      return new PasteableFaces(places, await parts.generate(crops, landmarks, outputFrames));
    },

    put(generated, slot, frame) {
      const { places, images } = expectFaces(generated);
      const place = places[slot];
      if (place === undefined) throw new RangeError(`slot ${slot} holds no face`);
      pasteFace(frame, place.box, images, slot * cropSize, place.mask);
    },

    recycle: (generated) => parts.recycle(expectFaces(generated).images),
    close: async () => undefined,
  };
}

/** The face of a source frame as far as it can be rendered; null where the frame must pass untouched. */
function faceAt(
  track: FaceTrack,
  boxes: Float32Array,
  index: number,
): { box: Box; landmarks: Float32Array } | null {
  const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = boxes.subarray(index * 4, index * 4 + 4);
  if (x2 - x1 < SMALLEST_FACE || y2 - y1 < SMALLEST_FACE) return null;
  const landmarks = track.landmarks.subarray(index * LANDMARK_VALUES, (index + 1) * LANDMARK_VALUES);
  return { box: { x1, y1, x2, y2 }, landmarks };
}

function toCropPixels(
  points: Float32Array,
  box: Box,
  side: number,
  target: Float32Array,
  offset: number,
): void {
  for (let i = 0; i < points.length; i += 2) {
    target[offset + i] = (((points[i] ?? 0) - box.x1) / (box.x2 - box.x1)) * side;
    target[offset + i + 1] = (((points[i + 1] ?? 0) - box.y1) / (box.y2 - box.y1)) * side;
  }
}

function expectBatch(batch: unknown): CroppedFaces {
  if (batch instanceof CroppedFaces) return batch;
  throw new TypeError('this batch belongs to another engine');
}

function expectFaces(faces: unknown): PasteableFaces {
  if (faces instanceof PasteableFaces) return faces;
  throw new TypeError('these faces belong to another engine');
}
