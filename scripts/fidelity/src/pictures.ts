import { ffmpeg, ffprobe, type PictureArea, readFrameNumber } from '@lipsync/testkit';

/** How a file is decoded: arguments before the input, filters behind it. */
export interface Decoding {
  readonly input?: readonly string[];
  readonly filters?: string;
}

const NUMBER_AREA = { width: 192, height: 16 };

/** The numbers burned into a file's pictures, in the order in which they are shown. */
export async function numbersIn(
  path: string,
  { input = [], filters = 'null' }: Decoding = {},
): Promise<number[]> {
  const { width, height } = NUMBER_AREA;
  // Scaled before they are cut out, so that range and format are those of the whole.
  const cut = `${filters},format=gray,crop=${width}:${height}:0:0`;
  const raw = ['-map', '0:V:0', '-fps_mode', 'passthrough', '-vf', cut, '-f', 'rawvideo', 'pipe:1'];
  const bytes = await ffmpeg([...input, '-i', path, ...raw]);
  const area = width * height;
  return Array.from({ length: bytes.length / area }, (_, i) =>
    readFrameNumber(bytes.subarray(i * area, (i + 1) * area), width),
  );
}

/** When a file's pictures appear and when the last one ends, in seconds, as players show them. */
export async function timesIn(path: string): Promise<{ starts: number[]; end: number }> {
  const entries = 'frame=best_effort_timestamp,pkt_duration,duration:stream=time_base';
  const { frames, streams } = JSON.parse(
    await ffprobe(['-select_streams', 'V:0', '-show_entries', entries, '-of', 'json', path]),
  ) as {
    frames: { best_effort_timestamp: number; duration?: number; pkt_duration?: number }[];
    streams: { time_base: string }[];
  };
  const [num = 1, den = 1] = (streams[0]?.time_base ?? '').split('/').map(Number);
  // Rounded to the nanosecond: finer than any time base, coarser than the error of the division.
  const seconds = (ticks: number): number => Math.round((ticks * num * 1e9) / den) / 1e9;
  const starts = frames.map(({ best_effort_timestamp: ticks }) => ticks);
  const last = frames.at(-1);
  // Where the container does not say how long the last picture stays, as long as pictures usually do.
  const steps = starts.slice(1).map((ticks, i) => ticks - (starts[i] ?? 0));
  const usual = steps.sort((a, b) => a - b)[steps.length >> 1] ?? 0;
  const end = (starts.at(-1) ?? 0) + (last?.duration ?? last?.pkt_duration ?? usual);
  return { starts: starts.map(seconds), end: seconds(end) };
}

/** Luma of 10 bits at limited range, rows without padding. */
export interface Luma {
  readonly samples: Uint16Array;
  readonly width: number;
}

/** Some pictures of a file of this even width, by their places in the order in which they are shown, ascending. */
export async function lumaAt(
  path: string,
  places: readonly number[],
  width: number,
  { input = [], filters = 'null' }: Decoding = {},
): Promise<Luma[]> {
  const select = `select='${places.map((place) => `eq(n,${place})`).join('+')}'`;
  // Odd sizes come back even.
  const even = 'crop=floor(iw/2)*2:floor(ih/2)*2:0:0';
  const planes = `${filters},${select},${even},scale=out_range=tv,format=yuv420p10le,extractplanes=y`;
  const raw = ['-map', '0:V:0', '-fps_mode', 'passthrough', '-vf', planes, '-f', 'rawvideo', 'pipe:1'];
  const bytes = await ffmpeg([...input, '-i', path, ...raw]);
  const samples = new Uint16Array(new Uint8Array(bytes).buffer);
  const area = samples.length / places.length;
  return places.map((_, i) => ({ samples: samples.subarray(i * area, (i + 1) * area), width }));
}

const PEAK = 1023;
/** Side and distance of the windows in which SSIM is taken. */
const WINDOW = { side: 8, apart: 4 };

/** Similarity of pairs of pictures outside an area: PSNR of all pixels in dB (99 if equal), and mean SSIM. */
export function compareOutside(
  pairs: readonly (readonly [Luma, Luma])[],
  area: PictureArea,
): { psnr_db: number; ssim: number } {
  let [squares, pixels, similarity, windows] = [0, 0, 0, 0];
  for (const [a, b] of pairs) {
    const height = Math.min(a.samples.length / a.width, b.samples.length / b.width);
    for (let y = 0; y + WINDOW.side <= height; y += WINDOW.apart)
      for (let x = 0; x + WINDOW.side <= Math.min(a.width, b.width); x += WINDOW.apart) {
        const isBeside = x + WINDOW.side <= area.x1 || x >= area.x2;
        if (!isBeside && y + WINDOW.side > area.y1 && y < area.y2) continue;
        const window = compareWindow(a, b, x, y);
        squares += window.squares;
        pixels += WINDOW.side ** 2;
        similarity += window.ssim;
        windows += 1;
      }
  }
  return {
    psnr_db: squares === 0 ? 99 : 10 * Math.log10((PEAK ** 2 * pixels) / squares),
    ssim: similarity / windows,
  };
}

/** SSIM after Wang et al. 2004, with a flat window. */
function compareWindow(a: Luma, b: Luma, left: number, top: number): { squares: number; ssim: number } {
  let [sumA, sumB, sumAA, sumBB, sumAB] = [0, 0, 0, 0, 0];
  for (let y = top; y < top + WINDOW.side; y += 1)
    for (let x = left; x < left + WINDOW.side; x += 1) {
      const [p, q] = [a.samples[y * a.width + x] ?? 0, b.samples[y * b.width + x] ?? 0];
      sumA += p;
      sumB += q;
      sumAA += p * p;
      sumBB += q * q;
      sumAB += p * q;
    }
  const n = WINDOW.side ** 2;
  const [meanA, meanB] = [sumA / n, sumB / n];
  const [varA, varB, both] = [sumAA / n - meanA ** 2, sumBB / n - meanB ** 2, sumAB / n - meanA * meanB];
  const [c1, c2] = [(0.01 * PEAK) ** 2, (0.03 * PEAK) ** 2];
  const ssim =
    ((2 * meanA * meanB + c1) * (2 * both + c2)) / ((meanA ** 2 + meanB ** 2 + c1) * (varA + varB + c2));
  return { squares: sumAA + sumBB - 2 * sumAB, ssim };
}

/** A row differs from both neighbors in the same direction by more than this: 10 of 255. */
const COMB = 40;

/** The largest share of pixels of a picture's area that stand out from the rows above and below. */
export function combing(pictures: readonly Luma[], area: PictureArea): number {
  return Math.max(0, ...pictures.map((picture) => combedIn(picture, area)));
}

function combedIn({ samples, width }: Luma, { x1, y1, x2, y2 }: PictureArea): number {
  let combed = 0;
  for (let y = y1; y < y2; y += 1)
    for (let i = y * width + x1; i < y * width + x2; i += 1) {
      const here = samples[i] ?? 0;
      const [above, below] = [here - (samples[i - width] ?? here), here - (samples[i + width] ?? here)];
      if (Math.min(above, below) > COMB || Math.max(above, below) < -COMB) combed += 1;
    }
  return combed / ((x2 - x1) * (y2 - y1));
}

/** The number of different codes of luma in an area of a picture. */
export function codesIn({ samples, width }: Luma, area: PictureArea): number {
  const codes = new Set<number>();
  for (let y = area.y1; y < Math.min(area.y2, samples.length / width); y += 1)
    for (let x = area.x1; x < Math.min(area.x2, width); x += 1) codes.add(samples[y * width + x] ?? 0);
  return codes.size;
}
