import {
  CUES,
  EXEMPLAR_BYTES,
  EXEMPLAR_SIDE,
  EXEMPLARS,
  positionalEncoding,
  WINDOW_STEPS,
} from '@lipsync/engines';
import { type FaceShape, paintedLandmarks, turnedAbout } from '@lipsync/engines/test';
import { floats } from '@lipsync/engines/test/graphs';
import { Tensor } from 'onnxruntime-node';
import { CUE_STATE, STATES, WIDTH } from '../hearing/audio-encoder';

/**
 * [3, side, side] in [-1, 1]: light skin, dark nostrils, redder lips, black (or `between`) between parted lips, so that
 * brightness shows where things moved. No color changes within 2×2 pixels, so that the built-in latent loses nothing.
 */
export function paintedFace(
  shape: FaceShape,
  gap: number,
  angle = 0,
  between: readonly number[] = [-1, -1, -1],
): Float32Array {
  const { side, x: cx, y: cy, half } = shape;
  const unit = half / 40;
  const image = new Float32Array(3 * side * side);
  for (let y = 0; y < side; y++) {
    for (let x = 0; x < side; x++) {
      const [fx, fy] = turnedAbout([cx, cy], (x & ~1) + 1, (y & ~1) + 1, -angle);
      const u = (fx - cx) / half;
      const curve = Math.max(0, 1 - u * u);
      const inside = Math.abs(fy - cy) < (gap / 2) * curve;
      const onLips = Math.abs(fy - cy - 1.5 * unit) < (13.5 * unit + gap / 2) * curve;
      const skin = [0.6 + 0.1 * Math.sin((x & ~1) / 9), 0.3, 0.1];
      const inNostril = Math.hypot(Math.abs(fx - cx) - 10 * unit, fy - cy + 39 * unit) < 4 * unit;
      const color = inside ? between : onLips ? [0.4, -0.2, -0.1] : inNostril ? [-0.2, -0.5, -0.6] : skin;
      color.forEach((value, channel) => (image[(channel * side + y) * side + x] = value));
    }
  }
  return image;
}

/** The feeds of a pack for a clip with these pictures of its own mouth, or with none. */
export function exemplarFeeds(mouths?: { readonly pictures: Uint8Array; readonly landmarks: Float32Array }) {
  const pictures = [EXEMPLARS, 3, EXEMPLAR_SIDE, EXEMPLAR_SIDE];
  return {
    exemplars: new Tensor('uint8', mouths?.pictures ?? new Uint8Array(EXEMPLARS * EXEMPLAR_BYTES), pictures),
    exemplar_landmarks: floats(mouths?.landmarks ?? new Float32Array(EXEMPLARS * 136), [EXEMPLARS, 68, 2]),
  };
}

/** Pictures of a painted face that opens its mouth from `least` to `widest` pixels, with this color between its lips. */
export function paintedExemplars(shape: FaceShape, widest: number, between: readonly number[], least = 0) {
  const pictures = new Uint8Array(EXEMPLARS * EXEMPLAR_BYTES);
  const landmarks = new Float32Array(EXEMPLARS * 136);
  for (let i = 0; i < EXEMPLARS; i++) {
    const gap = least + ((widest - least) * i) / (EXEMPLARS - 1);
    const picture = paintedFace(shape, gap, 0, between).map((value) => (value + 1) * 127.5);
    pictures.set(picture, i * EXEMPLAR_BYTES);
    landmarks.set(paintedLandmarks(shape, gap), i * 136);
  }
  return { pictures, landmarks };
}

/** Length of the dark stretch through the mouth's center, along the face's own vertical, in pixels. */
export function darkness(image: Float32Array, { side, x, y, half }: FaceShape, angle = 0): number {
  let dark = 0;
  for (let d = -1.1 * half; d <= 1.1 * half; d += 0.5) {
    const [px, py] = turnedAbout([x, y], x, y + d, angle);
    if ((image[Math.floor(py) * side + Math.floor(px)] ?? 0) < -0.2) dark += 0.5;
  }
  return dark;
}

/** The lowest point of the lower lip below the mouth's center, in pixels of the crop. */
export function lowerLipEdge(image: Float32Array, { side, x, y, half }: FaceShape): number {
  for (let row = Math.round(y + 1.3 * half); row > y; row--) {
    if ((image[(side + row) * side + x] ?? 0) < 0) return row;
  }
  return y;
}

/** How many pixels along the line of the mouth are lips. */
export function lipWidth(image: Float32Array, { side, y }: FaceShape): number {
  const green = image.subarray((side + y + 3) * side, (side + y + 4) * side);
  return green.filter((value) => value < 0).length;
}

/** Largest difference of two images of `side` pixels where `where` is true. */
export function difference(
  a: Float32Array,
  b: Float32Array,
  side: number,
  where: (x: number, y: number) => boolean = () => true,
): number {
  return furthest(a, b, (i) => where(i % side, Math.floor(i / side) % side));
}

/** The cues about the mouth that the built-in audio encoder outputs. */
export type Cues = Partial<Record<(typeof CUES)[number], number>>;

/** A window of hidden states with the same cues in every step, or each step's, with or without the sinusoidal position code. */
export function cueWindow(
  cues: Cues | ((step: number) => Cues),
  positionCode: 'added' | 'none',
): Float32Array<ArrayBuffer> {
  const tokens = WINDOW_STEPS * STATES;
  const window = new Float32Array(tokens * WIDTH);
  if (positionCode === 'added') window.set(positionalEncoding(tokens, WIDTH));
  for (let step = 0; step < WINDOW_STEPS; step++) {
    // The spectrogram in state 0 is never all zero, not even in silence.
    const spectrum = step * STATES * WIDTH;
    window[spectrum] = (window[spectrum] ?? 0) - 0.5;
    const heard = typeof cues === 'function' ? cues(step) : cues;
    CUES.forEach((name, i) => {
      const at = (step * STATES + CUE_STATE) * WIDTH + i;
      window[at] = (window[at] ?? 0) + (heard[name] ?? 0);
    });
  }
  return window;
}

/** The inputs for one frame of a diffusion engine's output. */
export interface Frame {
  readonly picture: Float32Array;
  readonly landmarks: Float32Array;
  readonly audio: Float32Array;
}

/** A painted face whose lips are `gap` pixels apart, and what it is to say. */
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

/**
 * Largest difference of two arrays at the places that count; NaN if they differ in length or contain NaN. Avoids
 * globals such as Math in the loop, because access to them is slow in a test.
 */
export function furthest(
  a: Float32Array,
  b: Float32Array,
  counts: (index: number) => boolean = () => true,
): number {
  if (a.length !== b.length) return NaN;
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const apart = (a[i] ?? 0) - (b[i] ?? 0);
    if ((apart <= worst && -apart <= worst) || !counts(i)) continue;
    if (Number.isNaN(apart)) return apart;
    worst = Math.abs(apart);
  }
  return worst;
}
