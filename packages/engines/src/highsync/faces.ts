import { type Box } from '@lipsync/kernels';
import { type FaceTrack, landmarksAt } from '../face/face-track';
import { boxAt, landmark, LANDMARK_COUNT, landmarkCenter, SMALLEST_FACE } from '../face/landmarks';
import { connectedRuns, type Run, smoothRun } from '../face/smoothing';

/**
 * Width of the smoothing weights, in seconds. The position of the box may follow a nod; its size must not change with
 * the jaw.
 */
const PLACE_SIGMA = 0.08;
const SIZE_SIGMA = 0.24;

/** Faces of a shot whose heights differ by less than this factor are all cropped with the greatest height. */
const SAME_HEIGHT = 1.4;

/** The position of the face in every source frame, as HighSync sees it. */
export interface HighsyncFaces {
  /**
   * Number of the frame's shot: a run of frames with a face, without a gap, a cut or a jump. −1 if there is no face.
   */
  readonly shots: Int32Array;
  /** x1, y1, x2, y2 of the face itself, smoothed; may extend beyond the picture. */
  readonly boxes: Float32Array;
  /** x1, y1, x2, y2 of the part of the picture that the network sees. */
  readonly crops: Float32Array;
}

/**
 * The faces of a video as HighSync crops them (https://github.com/saeed5959/high_sync): one height for all frames of a
 * shot, so that the crop does not reveal how far the original mouth was open. HighSync determines that height over a
 * run of output frames. Here it is determined over the shot of the source, so that the crop, and what is derived from
 * it, depends only on the source and can be cached. A track that ends within a shot may give it another height than a
 * longer one, so results derived from a crop must be stored together with the crop. Boxes are smoothed within shots:
 * the upper edge and the horizontal center lightly, the size more.
 */
export function highsyncFaces(track: FaceTrack): HighsyncFaces {
  const { frames } = track;
  const boxes = new Float32Array(frames * 4);
  const crops = new Float32Array(frames * 4);
  const shots = new Int32Array(frames).fill(-1);
  for (let frame = 0; frame < frames; frame++) {
    const box = track.found[frame] === 1 ? highsyncFaceBox(landmarksAt(track, frame)) : null;
    if (box !== null) boxes.set([box.x1, box.y1, box.x2, box.y2], frame * 4);
    shots[frame] = box === null ? -1 : 0;
  }
  const sourceShots = connectedRuns(
    frames,
    (frame) => shots[frame] === 0,
    (frame) => track.cuts[frame] !== 1 && !jumps(boxes, frame - 1, frame, track),
  );
  sourceShots.forEach((shot, number) => {
    steady(boxes, shot, track);
    const height = commonHeight(boxes, shot);
    for (let frame = shot.start; frame < shot.end; frame++) {
      const box = boxAt(boxes, frame);
      const crop = highsyncCrop(box, height ?? box.y2 - box.y1, track);
      const visible = crop.x2 - crop.x1 >= SMALLEST_FACE && crop.y2 - crop.y1 >= SMALLEST_FACE;
      shots[frame] = visible ? number : -1;
      crops.set([crop.x1, crop.y1, crop.x2, crop.y2], frame * 4);
    }
  });
  return { shots, boxes, crops };
}

/** Smooths the corners of one shot's boxes in place, as center, upper edge and size. */
function steady(boxes: Float32Array, shot: Run, track: FaceTrack): void {
  for (let i = shot.start * 4; i < shot.end * 4; i += 4) {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = boxes.subarray(i, i + 4);
    boxes.set([(x1 + x2) / 2, y1, x2 - x1, y2 - y1], i);
  }
  smoothRun(boxes, 4, shot, { first: 0, last: 2 }, PLACE_SIGMA, track);
  smoothRun(boxes, 4, shot, { first: 2, last: 4 }, SIZE_SIGMA, track);
  for (let i = shot.start * 4; i < shot.end * 4; i += 4) {
    const [x = 0, y = 0, width = 0, height = 0] = boxes.subarray(i, i + 4);
    boxes.set([x - width / 2, y, x + width / 2, y + height], i);
  }
}

/** The height that all faces of a shot get; null if they differ too much, so that each keeps its own. */
function commonHeight(boxes: Float32Array, shot: Run): number | null {
  let lowest = Infinity;
  let highest = 0;
  for (let frame = shot.start; frame < shot.end; frame++) {
    const { y1, y2 } = boxAt(boxes, frame);
    const height = y2 - y1;
    lowest = Math.min(lowest, height);
    highest = Math.max(highest, height);
  }
  return highest < SAME_HEIGHT * lowest ? highest : null;
}

/** Margin on either side of the face, as a fraction of its width. */
const SIDE_MARGIN = 0.1;
/** From the upper edge of the face to the lower edge of the crop, as a fraction of the height. */
const REACH_DOWN = 1.1;

/**
 * The part of the picture that HighSync sees for a face with this box and height. As in HighSync it ends at the border
 * of the picture. Unlike there, its corners are not rounded to pixels, which would jitter.
 */
function highsyncCrop(
  face: Box,
  height: number,
  picture: { readonly width: number; readonly height: number },
): Box {
  const margin = SIDE_MARGIN * (face.x2 - face.x1);
  return {
    x1: Math.max(0, face.x1 - margin),
    y1: Math.max(0, face.y1),
    x2: Math.min(picture.width, face.x2 + margin),
    y2: Math.min(picture.height, face.y1 + REACH_DOWN * height),
  };
}

/** Both eyebrows, as [first, last + 1]. */
const BROWS = [17, 27] as const;
/** The point where the nose meets the upper lip. */
const NOSE_BASE = 33;
/**
 * How far a detector's box extends above the eyebrows, as a fraction of the distance from them to the nose base.
 * Measured on real clips with YuNet, which like HighSync's own detector was trained on WIDER FACE: median 0.79, with
 * the chin as the lower edge and the outermost landmarks as the side edges within 4 % of the box.
 */
const FOREHEAD = 0.8;

/**
 * The tight box around a face, forehead to chin, that HighSync's detector would return, computed from 68 landmarks.
 * Landmarks have no forehead, so the eyebrows are moved up along the axis of the face. Brows and nose do not move with
 * the jaw, so the upper edge of the box is steady during speech. The box may extend beyond the picture. Null for a face
 * that is too small.
 */
export function highsyncFaceBox(landmarks: Float32Array): Box | null {
  const brows = landmarkCenter(landmarks, BROWS);
  const nose = landmark(landmarks, NOSE_BASE);
  const liftX = FOREHEAD * (brows.x - nose.x);
  const liftY = FOREHEAD * (brows.y - nose.y);
  let x1 = Infinity;
  let y1 = Infinity;
  let x2 = -Infinity;
  let y2 = -Infinity;
  const include = (x: number, y: number): void => {
    x1 = Math.min(x1, x);
    y1 = Math.min(y1, y);
    x2 = Math.max(x2, x);
    y2 = Math.max(y2, y);
  };
  for (let index = 0; index < LANDMARK_COUNT; index++) {
    const { x, y } = landmark(landmarks, index);
    include(x, y);
    if (index >= BROWS[0] && index < BROWS[1]) include(x + liftX, y + liftY);
  }
  return x2 - x1 >= SMALLEST_FACE && y2 - y1 >= SMALLEST_FACE ? { x1, y1, x2, y2 } : null;
}

/** Above this distance two faces do not belong to one motion. */
const LONGEST_STEP = 0.2;

/**
 * Says whether a face jumps between two frames, by HighSync's measure (https://github.com/saeed5959/high_sync):
 * (|Δx1|+|Δx2|)/W + (|Δy1|+|Δy2|)/H of its box above 0.2. `boxes` holds x1, y1, x2, y2 per frame.
 */
function jumps(
  boxes: Float32Array,
  from: number,
  to: number,
  picture: { readonly width: number; readonly height: number },
): boolean {
  const [before, after] = [boxAt(boxes, from), boxAt(boxes, to)];
  const moved = (edge: keyof Box): number => Math.abs(after[edge] - before[edge]);
  return (
    (moved('x1') + moved('x2')) / picture.width + (moved('y1') + moved('y2')) / picture.height > LONGEST_STEP
  );
}

/**
 * The runs of output frames that HighSync renders as one motion each. Frames outside every run show no face. `sources`
 * is the source frame of every output frame. A run ends where the face is lost, the shot changes or the face jumps,
 * even if the timeline causes that. A restart, a skip or a reversal that lands close by continues the run.
 */
export function highsyncRuns(
  sources: readonly number[],
  { shots, boxes }: Pick<HighsyncFaces, 'shots' | 'boxes'>,
  picture: { readonly width: number; readonly height: number },
): Run[] {
  const sourceOf = (output: number): number => sources[output] ?? -1;
  const shotOf = (output: number): number => shots[sourceOf(output)] ?? -1;
  return connectedRuns(
    sources.length,
    (output) => shotOf(output) >= 0,
    (output) =>
      shotOf(output) === shotOf(output - 1) && !jumps(boxes, sourceOf(output - 1), sourceOf(output), picture),
  );
}
