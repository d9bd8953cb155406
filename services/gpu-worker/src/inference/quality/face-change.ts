import { type Box } from '@lipsync/kernels';

/** Luma of a rectangle of a picture, rows without padding. */
export interface LumaRegion {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** How pasting generated faces changed the pictures. */
export interface FaceChange {
  /** Mean luma step, in grey levels, where changed pixels meet unchanged ones; from 10 the border is visible. */
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
