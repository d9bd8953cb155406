import { type Box } from '@lipsync/kernels';
import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks68';
import { SMALLEST_FACE } from '../face/smallest-face';
import { type FaceBoxPlacement } from './face-box';
import { musetalkBoxes } from './musetalk-boxes';

/** A face in a source frame, in pixels of the picture. */
export interface SourceFace {
  readonly sourceIndex: number;
  readonly box: Box;
  /** 68 points, x and y. */
  readonly landmarks: Float32Array;
}

/** The face of a source frame if it can be rendered; null when the frame must pass unchanged. */
export type FaceAt = (sourceIndex: number) => SourceFace | null;

export function createSourceFaces(track: FaceTrack, placement: FaceBoxPlacement): FaceAt {
  const boxes = musetalkBoxes(track, placement);
  const find = (sourceIndex: number): SourceFace | null => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = boxes.subarray(sourceIndex * 4, sourceIndex * 4 + 4);
    if (x2 - x1 < SMALLEST_FACE || y2 - y1 < SMALLEST_FACE) return null;
    const start = sourceIndex * LANDMARK_VALUES;
    const landmarks = track.landmarks.subarray(start, start + LANDMARK_VALUES);
    return { sourceIndex, box: { x1, y1, x2, y2 }, landmarks };
  };
  // The same frame is often requested several times in a row.
  let last = -1;
  let face: SourceFace | null = null;
  return (sourceIndex) => {
    if (sourceIndex !== last) face = find(sourceIndex);
    last = sourceIndex;
    return face;
  };
}
