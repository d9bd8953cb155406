import { type Box, type PictureFormat, pictureLayout, type RgbPicture, yuvToRgb } from '@lipsync/kernels';

/** Larger regions are subsampled, because their consumers scale them down anyway. */
const SIDE_MAX = 224;

/** Part of a yuv420p picture as packed RGB, and the position of its pixels in the picture: x = left + column · step. */
export interface RgbRegion {
  readonly picture: RgbPicture;
  readonly left: number;
  readonly top: number;
  readonly step: number;
}

/** Reads the pixels of `box` that lie inside the picture; null if there are none. */
export function rgbRegion(frame: Uint8Array, format: PictureFormat, box: Box): RgbRegion | null {
  const { chromaWidth, uOffset, vOffset } = pictureLayout(format);
  const left = Math.max(0, Math.floor(box.x1));
  const top = Math.max(0, Math.floor(box.y1));
  const right = Math.min(format.width, Math.ceil(box.x2));
  const bottom = Math.min(format.height, Math.ceil(box.y2));
  if (right <= left || bottom <= top) return null;
  const step = Math.ceil(Math.max(right - left, bottom - top) / SIDE_MAX);
  const width = Math.floor((right - left - 1) / step) + 1;
  const height = Math.floor((bottom - top - 1) / step) + 1;
  const data = new Uint8ClampedArray(width * height * 3);
  const { black, luma, redV, greenU, greenV, blueU } = yuvToRgb(format.matrix, format.range);
  let target = 0;
  for (let row = 0; row < height; row++) {
    const y = top + row * step;
    for (let column = 0; column < width; column++) {
      const x = left + column * step;
      const chroma = (y >> 1) * chromaWidth + (x >> 1);
      const level = luma * ((frame[y * format.width + x] ?? 0) - black);
      const u = (frame[uOffset + chroma] ?? 0) - 128;
      const v = (frame[vOffset + chroma] ?? 0) - 128;
      data[target++] = 255 * (level + v * redV);
      data[target++] = 255 * (level + u * greenU + v * greenV);
      data[target++] = 255 * (level + u * blueU);
    }
  }
  return { picture: { width, height, data: new Uint8Array(data.buffer) }, left, top, step };
}
