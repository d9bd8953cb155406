import { connectedRuns, type Run } from '../face/connected-runs';
import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks68';
import { SMALLEST_FACE } from '../face/smallest-face';
import { smoothRun } from '../face/smoothing';
import { highsyncCrop } from './highsync-crop';
import { highsyncFaceBox } from './highsync-face-box';
import { jumps } from './highsync-jump';

/**
 * Width of the smoothing weights, in frames. The position of the box may follow a nod; its size must not change with
 * the jaw.
 */
const PLACE_SIGMA = 2;
const SIZE_SIGMA = 6;

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
 * the upper edge and the horizontal centre lightly, the size more.
 */
export function highsyncFaces(track: FaceTrack): HighsyncFaces {
  const { frames } = track;
  const boxes = new Float32Array(frames * 4);
  const crops = new Float32Array(frames * 4);
  const shots = new Int32Array(frames).fill(-1);
  for (let frame = 0; frame < frames; frame++) {
    const face = track.landmarks.subarray(frame * LANDMARK_VALUES, (frame + 1) * LANDMARK_VALUES);
    const box = track.found[frame] === 1 ? highsyncFaceBox(face) : null;
    if (box !== null) boxes.set([box.x1, box.y1, box.x2, box.y2], frame * 4);
    shots[frame] = box === null ? -1 : 0;
  }
  const sourceShots = connectedRuns(
    frames,
    (frame) => shots[frame] === 0,
    (frame) => track.cuts[frame] !== 1 && !jumps(boxes, frame - 1, frame, track),
  );
  sourceShots.forEach((shot, number) => {
    steady(boxes, shot);
    const height = commonHeight(boxes, shot);
    for (let frame = shot.start; frame < shot.end; frame++) {
      const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = boxes.subarray(frame * 4, frame * 4 + 4);
      const crop = highsyncCrop({ x1, y1, x2, y2 }, height ?? y2 - y1, track);
      const visible = crop.x2 - crop.x1 >= SMALLEST_FACE && crop.y2 - crop.y1 >= SMALLEST_FACE;
      shots[frame] = visible ? number : -1;
      crops.set([crop.x1, crop.y1, crop.x2, crop.y2], frame * 4);
    }
  });
  return { shots, boxes, crops };
}

/** Smooths the corners of one shot's boxes in place, as centre, upper edge and size. */
function steady(boxes: Float32Array, shot: Run): void {
  for (let i = shot.start * 4; i < shot.end * 4; i += 4) {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = boxes.subarray(i, i + 4);
    boxes.set([(x1 + x2) / 2, y1, x2 - x1, y2 - y1], i);
  }
  smoothRun(boxes, 4, shot, { first: 0, last: 2 }, PLACE_SIGMA);
  smoothRun(boxes, 4, shot, { first: 2, last: 4 }, SIZE_SIGMA);
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
    const height = (boxes[frame * 4 + 3] ?? 0) - (boxes[frame * 4 + 1] ?? 0);
    lowest = Math.min(lowest, height);
    highest = Math.max(highest, height);
  }
  return highest < SAME_HEIGHT * lowest ? highest : null;
}
