import { ffmpeg } from './media-tools';

/** Part of a picture, in pixels; may extend beyond the picture. */
export interface PictureArea {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

/**
 * The luma of a file's pictures as stored, with none dropped or repeated, one byte per pixel, rows without padding.
 * `size` is that of the pictures. Rejects if the file cannot be decoded to its end.
 */
export async function lumaPictures(
  path: string,
  { width, height }: { readonly width: number; readonly height: number },
): Promise<Uint8Array[]> {
  // Not converted to grey, so that luma stays as coded.
  const planes = ['-fps_mode', 'passthrough', '-vf', 'extractplanes=y', '-f', 'rawvideo', 'pipe:1'];
  const bytes = await ffmpeg(['-xerror', '-i', path, ...planes]);
  const area = width * height;
  if (bytes.length % area !== 0) throw new Error(`the pictures of ${path} are not ${width}x${height}`);
  return Array.from({ length: bytes.length / area }, (_, i) => bytes.subarray(i * area, (i + 1) * area));
}

/** Similarity of two pictures of the same width inside an area, or everywhere outside it: PSNR in dB, 99 if equal. */
export function lumaPsnr(
  a: Uint8Array,
  b: Uint8Array,
  width: number,
  where: { readonly in: PictureArea } | { readonly outside: PictureArea },
): number {
  const whole = { x1: 0, y1: 0, x2: width, y2: a.length / width };
  if ('in' in where) return psnr(difference(a, b, width, where.in));
  const [all, part] = [difference(a, b, width, whole), difference(a, b, width, where.outside)];
  return psnr({ squares: all.squares - part.squares, pixels: all.pixels - part.pixels });
}

interface Difference {
  readonly squares: number;
  readonly pixels: number;
}

function difference(a: Uint8Array, b: Uint8Array, width: number, area: PictureArea): Difference {
  const [left, right] = [Math.max(0, Math.floor(area.x1)), Math.min(width, Math.ceil(area.x2))];
  const [top, bottom] = [Math.max(0, Math.floor(area.y1)), Math.min(a.length / width, Math.ceil(area.y2))];
  let squares = 0;
  let pixels = 0;
  for (let y = top; y < bottom; y += 1) {
    for (let i = y * width + left; i < y * width + right; i += 1) {
      squares += ((a[i] ?? 0) - (b[i] ?? 0)) ** 2;
      pixels += 1;
    }
  }
  return { squares, pixels };
}

function psnr({ squares, pixels }: Difference): number {
  return squares === 0 ? 99 : 10 * Math.log10((255 ** 2 * pixels) / squares);
}
