import { type Rational } from '@lipsync/media';

/** Larger pictures take longer to decode and reveal no more: the landmark network sees a face at 112 pixels. */
const LONGEST_SIDE = 960;

/** Twice the widest pixel in broadcasting (64:33). A tag that claims more is wrong, and its pixels count as square. */
const WIDEST_PIXEL = 4;

interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * The size at which a video's frames are analysed. The frames have their display shape whatever the shape of the stored
 * pixels (`pixelAspect`, width over height), because the networks know only faces as people see them. Both sides are
 * even, the height is never more than stored, and the longer side is at most 960.
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
