import { type Box, createToSdr, type PictureFormat, pictureLayout, type RgbPicture } from '@lipsync/kernels';

/** Luma of a rectangle of a picture in 8-bit levels, with fractions where it has more bits; rows without padding. */
export interface LumaRegion {
  readonly width: number;
  readonly height: number;
  readonly data: Float32Array;
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

/** Part of a picture as packed RGB, as in SDR, and the position of its pixels in the picture: x = left + column · step. */
export interface RgbRegion {
  readonly picture: RgbPicture;
  readonly left: number;
  readonly top: number;
  readonly step: number;
}

/** Reads regions of pictures of this format. */
export function createRegionReader(format: PictureFormat) {
  const { chromaWidth, sampleBytes, uOffset, vOffset } = pictureLayout(format);
  const toSdr = createToSdr(format, SIDE_MAX * SIDE_MAX);
  /** A sample in 8-bit levels. */
  const level = (frame: Uint8Array, plane: number, index: number): number => {
    const at = plane + sampleBytes * index;
    return sampleBytes === 1 ? (frame[at] ?? 0) : ((frame[at] ?? 0) + 256 * (frame[at + 1] ?? 0)) / 4;
  };

  return {
    /** The luma of a box of whole pixels inside the picture. */
    luma(frame: Uint8Array, box: Box): LumaRegion {
      const width = box.x2 - box.x1;
      const height = box.y2 - box.y1;
      const data = new Float32Array(width * height);
      for (let row = 0; row < height; row++) {
        const start = (box.y1 + row) * format.width + box.x1;
        const line = frame.subarray(sampleBytes * start, sampleBytes * (start + width));
        for (let column = 0; column < width; column++) data[row * width + column] = level(line, 0, column);
      }
      return { width, height, data };
    },

    /** The colors of the pixels of `box` that lie inside the picture; null if there are none. */
    rgb(frame: Uint8Array, box: Box): RgbRegion | null {
      const left = Math.max(0, Math.floor(box.x1));
      const top = Math.max(0, Math.floor(box.y1));
      const right = Math.min(format.width, Math.ceil(box.x2));
      const bottom = Math.min(format.height, Math.ceil(box.y2));
      if (right <= left || bottom <= top) return null;
      const step = Math.ceil(Math.max(right - left, bottom - top) / SIDE_MAX);
      const width = Math.floor((right - left - 1) / step) + 1;
      const height = Math.floor((bottom - top - 1) / step) + 1;
      const area = width * height;
      const planes = new Float32Array(3 * area);
      for (let row = 0; row < height; row++) {
        const y = top + row * step;
        for (let column = 0; column < width; column++) {
          const x = left + column * step;
          const chroma = (y >> 1) * chromaWidth + (x >> 1);
          const target = row * width + column;
          planes[target] = level(frame, 0, y * format.width + x);
          planes[target + area] = level(frame, uOffset, chroma);
          planes[target + 2 * area] = level(frame, vOffset, chroma);
        }
      }
      toSdr(planes);
      const data = new Uint8ClampedArray(3 * area);
      for (let channel = 0; channel < 3; channel++) {
        const plane = channel * area;
        for (let i = 0; i < area; i++) data[3 * i + channel] = 127.5 * ((planes[plane + i] ?? 0) + 1);
      }
      return { picture: { width, height, data: new Uint8Array(data.buffer) }, left, top, step };
    },
  };
}
