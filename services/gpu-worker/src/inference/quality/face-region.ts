import { type Box, type PictureFormat, pictureLayout, type RgbPicture, yuvToRgb } from '@lipsync/kernels';

/** Luma of a rectangle of a picture, rows without padding. */
export interface LumaRegion {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** How pasting generated faces changed the pictures. */
interface FaceChange {
  /** Mean luma step, in gray levels, where changed pixels meet unchanged ones; from 10 the border is visible. */
  readonly seamLevels: number | null;
  /** PSNR in dB of the changed skin around the mouth against the source: how well the face is preserved. */
  readonly skinPsnrDb: number | null;
}

/** Accumulates the change over pairs of equal regions, before and after. Results are null where nothing was changed. */
export function createFaceChange() {
  let steps = 0;
  let borders = 0;
  let squares = 0;
  let skin = 0;

  return {
    /** `mouth`: the area that is meant to change, in pixels of the region; it does not count as skin. */
    add(before: LumaRegion, after: LumaRegion, mouth: Box): void {
      const { width, height } = before;
      const change = (at: number): number => Math.abs((after.data[at] ?? 0) - (before.data[at] ?? 0));
      for (let y = 1; y < height - 1; y++) {
        const besideMouth = y < mouth.y1 || y >= mouth.y2;
        for (let x = 1; x < width - 1; x++) {
          const at = y * width + x;
          const changed = change(at);
          if (changed === 0) continue;
          const untouched =
            change(at - 1) === 0 ||
            change(at + 1) === 0 ||
            change(at - width) === 0 ||
            change(at + width) === 0;
          if (untouched) {
            steps += changed;
            borders++;
          }
          if (besideMouth || x < mouth.x1 || x >= mouth.x2) {
            squares += changed * changed;
            skin++;
          }
        }
      }
    },
    result: (): FaceChange => ({
      seamLevels: borders === 0 ? null : steps / borders,
      skinPsnrDb: skin === 0 ? null : 10 * Math.log10((255 * 255 * skin) / squares),
    }),
  };
}

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
