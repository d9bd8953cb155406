import { type Patch, type RgbPicture } from '../../patch-sampler';

/** More samples than this per output pixel and axis cost time without a visible effect. */
const MAX_OVERSAMPLING = 4;

/** The sampling of patches in plain TypeScript, the reference for the kernel in tests. */
export function samplePatch(picture: RgbPicture, patch: Patch, out: RgbPicture): void {
  const { width, height, data } = picture;
  const samples = Math.min(MAX_OVERSAMPLING, Math.max(1, Math.round(patch.side / out.width)));
  const step = patch.side / out.width / samples;
  const stepX = step * Math.cos(patch.angle);
  const stepY = step * Math.sin(patch.angle);
  // Counted from the patch's center in sample steps; pixel (0, 0) of the picture has its center at (0.5, 0.5).
  const firstColumn = (1 - out.width * samples) / 2;
  const firstRow = (1 - out.height * samples) / 2;
  const originX = patch.x - 0.5 + firstColumn * stepX - firstRow * stepY;
  const originY = patch.y - 0.5 + firstColumn * stepY + firstRow * stepX;
  const scale = 1 / (samples * samples);
  const rowBytes = width * 3;
  let target = 0;
  for (let row = 0; row < out.height; row++) {
    for (let column = 0; column < out.width; column++) {
      let red = 0;
      let green = 0;
      let blue = 0;
      for (let j = row * samples; j < (row + 1) * samples; j++) {
        for (let i = column * samples; i < (column + 1) * samples; i++) {
          const x = originX + i * stepX - j * stepY;
          const y = originY + i * stepY + j * stepX;
          const left = Math.floor(x);
          const top = Math.floor(y);
          if (left < 0 || top < 0 || left + 1 >= width || top + 1 >= height) continue;
          const w11 = (x - left) * (y - top);
          const w10 = x - left - w11;
          const w01 = y - top - w11;
          const w00 = 1 - w10 - w01 - w11;
          const a = top * rowBytes + left * 3;
          const b = a + rowBytes;
          red += w00 * at(data, a) + w10 * at(data, a + 3) + w01 * at(data, b) + w11 * at(data, b + 3);
          green +=
            w00 * at(data, a + 1) + w10 * at(data, a + 4) + w01 * at(data, b + 1) + w11 * at(data, b + 4);
          blue +=
            w00 * at(data, a + 2) + w10 * at(data, a + 5) + w01 * at(data, b + 2) + w11 * at(data, b + 5);
        }
      }
      out.data[target] = red * scale + 0.5;
      out.data[target + 1] = green * scale + 0.5;
      out.data[target + 2] = blue * scale + 0.5;
      target += 3;
    }
  }
}

function at(data: Uint8Array, index: number): number {
  return data[index] ?? 0;
}
