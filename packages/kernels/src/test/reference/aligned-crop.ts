import { invertAffine } from '../../affine';
import { type AlignedCrop } from '../../aligned-crop';
import { yuvToRgb } from '../../colour-conversion';
import { type PictureFormat, pictureLayout } from '../../picture-format';
import { createPlaneSampler } from './aligned-sampler';

/** The grey around pictures in the training of LatentSync's networks, of 255. */
const GREY = 127 / 255;
/** Pixels of the crop for which the edge is extended before the grey begins. */
const FRINGE = 8;

/** The crop in plain TypeScript, the reference for the kernels in tests and benchmarks. */
export function createAlignedCrop(format: PictureFormat, side: number): AlignedCrop {
  const { width, height } = format;
  const { chromaWidth, chromaHeight, uOffset, vOffset } = pictureLayout(format);
  const area = side * side;
  const { black, luma, redV, greenU, greenV, blueU } = yuvToRgb(format.matrix, format.range);
  const readLuma = createPlaneSampler({
    width,
    height,
    offsets: [0],
    around: { values: [black + GREY / luma], from: FRINGE },
    stride: area,
    interpolation: 'cubic',
  });
  const readChroma = createPlaneSampler({
    width: chromaWidth,
    height: chromaHeight,
    offsets: [uOffset, vOffset],
    around: { values: [128, 128], from: FRINGE },
    stride: area,
    interpolation: 'bilinear',
  });

  return (picture, transform, target, offset) => {
    const { a, b, c, d, e, f } = invertAffine(transform);
    // Between pixel centres, the first of which is at 0.5. A chroma sample covers two pixels in each direction.
    const x = c + (a + b) / 2;
    const y = f + (d + e) / 2;
    readLuma.aim({ a, b, c: x - 0.5, d, e, f: y - 0.5 });
    readChroma.aim({ a: a / 2, b: b / 2, c: x / 2 - 0.5, d: d / 2, e: e / 2, f: y / 2 - 0.5 });
    for (let row = 0; row < side; row++) {
      const at = offset + row * side;
      readLuma.sampleRow(picture, 0, row, side, target, at);
      readChroma.sampleRow(picture, 0, row, side, target, at + area);
      for (let i = at; i < at + side; i++) {
        const light = 2 * luma * ((target[i] ?? 0) - black) - 1;
        const u = 2 * ((target[i + area] ?? 0) - 128);
        const v = 2 * ((target[i + 2 * area] ?? 0) - 128);
        const red = light + v * redV;
        const green = light + u * greenU + v * greenV;
        const blue = light + u * blueU;
        target[i] = red < -1 ? -1 : red > 1 ? 1 : red;
        target[i + area] = green < -1 ? -1 : green > 1 ? 1 : green;
        target[i + 2 * area] = blue < -1 ? -1 : blue > 1 ? 1 : blue;
      }
    }
  };
}
