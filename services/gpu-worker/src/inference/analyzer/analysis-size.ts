import { type Rational } from '@lipsync/media';

/** Larger pictures cost decoding time and find no more: landmarks look at 112 pixels of a face. */
const LONGEST_SIDE = 960;

/** Twice what broadcasting knows (64:33): a tag that claims more is wrong, and its pixels are taken for square. */
const WIDEST_PIXEL = 4;

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * The size at which a video's frames are analysed: in its shown shape, for the networks know only faces as people see
 * them, whatever shape the stored pixels have (`pixelAspect`, width over height). Even, never higher than stored, at
 * most 960 on the longer side.
 */
export function analysisSize(stored: Size, pixelAspect: Rational): Size {
  const shownWidth = stored.width * plausible(pixelAspect.num / pixelAspect.den);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(shownWidth, stored.height));
  const even = (length: number): number => Math.max(2, Math.round((length * scale) / 2) * 2);
  return { width: even(shownWidth), height: even(stored.height) };
}

function plausible(aspect: number): number {
  return Math.max(aspect, 1 / aspect) > WIDEST_PIXEL ? 1 : aspect;
}
