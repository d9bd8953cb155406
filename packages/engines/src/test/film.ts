import { type Cues, cueWindow } from './cue-window';
import { type FaceShape, paintedFace, paintedLandmarks } from './painted-face';

/** The inputs for one frame of a diffusion engine's output. */
export interface Frame {
  readonly picture: Float32Array;
  readonly landmarks: Float32Array;
  readonly audio: Float32Array;
}

/** A painted face whose lips are `gap` pixels apart, and what it shall say. */
export function paintedFrame(shape: FaceShape, gap: number, cues: Cues): Frame {
  return {
    picture: paintedFace(shape, gap),
    landmarks: paintedLandmarks(shape, gap),
    audio: cueWindow(cues, 'none'),
  };
}

/** One property of all frames, concatenated. */
export function allOf(frames: readonly Frame[], part: keyof Frame): Float32Array {
  const parts = frames.map((frame) => frame[part]);
  const all = new Float32Array(parts.reduce((sum, { length }) => sum + length, 0));
  parts.reduce((at, values) => {
    all.set(values, at);
    return at + values.length;
  }, 0);
  return all;
}

/** Converts [first, second, area] to [second, first, area]. */
export function swapped(values: Float32Array, first: number, area: number): Float32Array {
  const second = values.length / area / first;
  const result = new Float32Array(values.length);
  for (let i = 0; i < first; i++)
    for (let j = 0; j < second; j++)
      result.set(
        values.subarray((i * second + j) * area, (i * second + j + 1) * area),
        (j * first + i) * area,
      );
  return result;
}
