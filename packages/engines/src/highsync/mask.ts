import { type BlendMask, type Box, MASK_SIZE } from '@lipsync/kernels';
import { type HighsyncParams } from './manifest';

type LatentShape = HighsyncParams['latent'];
type LatentRectangle = HighsyncParams['mask'];

/**
 * Sets every cell outside the rectangle to that of the clean latent, because the network gets the parts that are not
 * generated without noise. Both are one frame.
 */
export function restoreOutside(
  latent: Float32Array,
  clean: Float32Array,
  { channels, height, width }: LatentShape,
  { top, bottom, left, right }: LatentRectangle,
): void {
  const copy = (from: number, to: number): void => latent.set(clean.subarray(from, to), from);
  const span = generatedSpan(width, { top, bottom, left, right });
  const gap = width - (right - left + 1);
  for (let channel = 0; channel < channels; channel++) {
    const plane = channel * height * width;
    copy(plane, plane + span.from);
    // From the end of one generated row to the beginning of the next, everything is outside: a few cells each.
    for (let end = plane + span.from + right - left + 1; end < plane + span.to; end += width) {
      for (let i = end; i < end + gap; i++) latent[i] = clean[i] ?? 0;
    }
    copy(plane + span.to, plane + height * width);
  }
}

/**
 * The cells of a channel's plane from the first to the last that are generated. What is computed of the others is
 * overwritten before anything sees it.
 */
export function generatedSpan(
  width: number,
  { top, bottom, left, right }: LatentRectangle,
): { readonly from: number; readonly to: number } {
  return { from: top * width + left, to: bottom * width + right + 1 };
}

/** How far the blend extends beyond the rectangle, as a fraction of the crop: half visible 8 pixels outside, of 512. */
export const RECTANGLE_FEATHER = 1 / 32;

/**
 * The mask with which HighSync's face is blended into its frame: all of the rectangle, with a soft border around it.
 * HighSync itself pastes the whole crop. Outside the rectangle that is only the source after a pass through the
 * autoencoder, so the source is better. Where the rectangle is closer to the border of the crop than the feather, the
 * mask fades inside the rectangle instead, because there is nothing to show beyond that border.
 */
export function rectangleBlendMask(
  { top, bottom, left, right }: LatentRectangle,
  { height, width }: LatentShape,
): BlendMask {
  const across = feathered(left / width, (right + 1) / width);
  const down = feathered(top / height, (bottom + 1) / height);
  const mask = new Float32Array(MASK_SIZE * MASK_SIZE);
  for (let i = 0; i < mask.length; i++) {
    mask[i] = (down[Math.floor(i / MASK_SIZE)] ?? 0) * (across[i % MASK_SIZE] ?? 0);
  }
  return mask;
}

/** What this mask shows of a crop, in its pixels. */
export function blendedPart(
  { top, bottom, left, right }: LatentRectangle,
  { height, width }: LatentShape,
  side: number,
): Box {
  return {
    x1: side * (left / width - RECTANGLE_FEATHER),
    y1: side * (top / height - RECTANGLE_FEATHER),
    x2: side * ((right + 1) / width + RECTANGLE_FEATHER),
    y2: side * ((bottom + 1) / height + RECTANGLE_FEATHER),
  };
}

/** One axis of the mask: 1 between two positions (0..1 of the crop), falling smoothly to 0 outside. */
function feathered(from: number, to: number): Float32Array {
  const begin = Math.max(0, from - RECTANGLE_FEATHER);
  const end = Math.min(1, to + RECTANGLE_FEATHER);
  return Float32Array.from({ length: MASK_SIZE }, (_, cell) => {
    const place = (cell + 0.5) / MASK_SIZE;
    return smoothStep(Math.min(place - begin, end - place) / RECTANGLE_FEATHER);
  });
}

function smoothStep(value: number): number {
  const t = Math.min(1, Math.max(0, value));
  return t * t * (3 - 2 * t);
}
