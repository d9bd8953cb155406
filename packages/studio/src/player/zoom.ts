import { type Region } from './find-mouth';

/** How all pictures are shown: `scale` times as large, with this point (fractions of the picture) in the middle. */
export interface View {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export const WHOLE: View = { scale: 1, x: 0.5, y: 0.5 };
export const MAX_SCALE = 8;

/** Keeps the picture's edges outside the frame, or at it. */
export function withinPicture({ scale, x, y }: View): View {
  const clamped = Math.min(MAX_SCALE, Math.max(1, scale));
  const margin = 0.5 / clamped;
  const clamp = (value: number): number => Math.min(1 - margin, Math.max(margin, value));
  return { scale: clamped, x: clamp(x), y: clamp(y) };
}

/**
 * A view of a mouth with the face around it, in pictures of this shape (width by height): what the engines change is
 * about as wide as a face, and half as high.
 */
export function viewOf({ x, y, width, height }: Region, ratio: number): View {
  const scale = 1 / Math.max(2.2 * width, 2.2 * height, 1.7 * width * ratio);
  return withinPicture({ scale: Math.max(1.5, scale), x: x + width / 2, y: y + height / 2 });
}

/** Zooms by a factor so that the point under the pointer (fractions of the frame) stays where it is. */
export function zoomAt(view: View, factor: number, point: { x: number; y: number }): View {
  const scale = Math.min(MAX_SCALE, Math.max(1, view.scale * factor));
  const shift = (center: number, at: number): number => center + (at - 0.5) * (1 / view.scale - 1 / scale);
  return withinPicture({ scale, x: shift(view.x, point.x), y: shift(view.y, point.y) });
}

/** Moves the picture by fractions of the frame. */
export function pan(view: View, dx: number, dy: number): View {
  return withinPicture({ ...view, x: view.x - dx / view.scale, y: view.y - dy / view.scale });
}

/** The transform of a picture that fills its frame, around its middle. */
export function transformOf({ scale, x, y }: View): string {
  const shift = (center: number): string => `${((0.5 - center) * scale * 100).toFixed(3)}%`;
  return scale === 1 ? 'none' : `translate(${shift(x)}, ${shift(y)}) scale(${scale.toFixed(4)})`;
}
