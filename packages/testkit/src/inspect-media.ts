import { ffmpeg, ffprobe } from './test-media';

/** One packet of a stream, in units of the stream's time base. */
interface Packet {
  readonly pts: number;
  readonly duration: number;
}

interface TimedStream {
  readonly num: number;
  readonly den: number;
  /** In presentation order. */
  readonly packets: readonly Packet[];
}

/** Timing of one stream according to its packets, which players obey whatever the header says. */
interface StreamTiming {
  /** Start times in seconds of the pictures or packets of sound; negative ones are skipped by players. */
  readonly starts: readonly number[];
  /** End time of the last one, in seconds. */
  readonly end: number;
}

/** Timing of the first video stream and the first audio stream of a file. */
export async function mediaTiming(path: string): Promise<{ pictures: StreamTiming; sound: StreamTiming }> {
  const streams = await timedStreams(path);
  return { pictures: timing(one(streams, 'video', path)), sound: timing(one(streams, 'audio', path)) };
}

/** The same of a file that may have no sound. */
export async function pictureTiming(path: string): Promise<StreamTiming> {
  return timing(one(await timedStreams(path), 'video', path));
}

function timing({ num, den, packets }: TimedStream): StreamTiming {
  // Rounded to the nanosecond: finer than any time base, coarser than the error of the division.
  const seconds = (time: number): number => Math.round((time * num * 1e9) / den) / 1e9;
  const end = Math.max(...packets.map(({ pts, duration }) => pts + duration));
  return { starts: packets.map(({ pts }) => seconds(pts)), end: seconds(end) };
}

/**
 * The index of the picture that a viewer sees at each 1/`fps` s after the first one appeared: the newest whose time,
 * rounded to the nearest such instant, has come. The last one stays until the end, rounded likewise.
 */
export async function shownPictures(path: string, fps = 25): Promise<number[]> {
  const { num, den, packets } = one(await timedStreams(path), 'video', path);
  const first = packets[0]?.pts ?? 0;
  const instant = (pts: number): number => Math.round(((pts - first) * num * fps) / den);
  const last = packets.at(-1) ?? { pts: first, duration: 0 };
  const count = Math.max(1, instant(last.pts + last.duration));
  const shown: number[] = [];
  let picture = 0;
  for (let n = 0; n < count; n += 1) {
    for (let next = packets[picture + 1]; next && instant(next.pts) <= n; next = packets[picture + 1])
      picture += 1;
    shown.push(picture);
  }
  return shown;
}

/** What ffprobe tells of them; times that the container does not give are absent. */
interface Report {
  readonly packets: readonly {
    readonly stream_index: number;
    readonly pts?: number;
    readonly duration?: number;
  }[];
  readonly streams: readonly {
    readonly index: number;
    readonly codec_type: string;
    readonly time_base: string;
  }[];
}

/** The first stream of each type. */
async function timedStreams(path: string): Promise<ReadonlyMap<string, TimedStream>> {
  const entries = 'packet=stream_index,pts,duration:stream=index,codec_type,time_base';
  const report = JSON.parse(await ffprobe(['-show_entries', entries, '-of', 'json', path])) as Report;
  const streams = new Map<string, TimedStream>();
  for (const { index, codec_type: type, time_base: timeBase } of report.streams) {
    if (streams.has(type)) continue;
    const [num = 1, den = 1] = timeBase.split('/').map(Number);
    const packets = report.packets
      .filter((packet) => packet.stream_index === index)
      .map(({ pts = 0, duration = 0 }) => ({ pts, duration }))
      .sort((a, b) => a.pts - b.pts);
    streams.set(type, { num, den, packets });
  }
  return streams;
}

function one(streams: ReadonlyMap<string, TimedStream>, type: string, path: string): TimedStream {
  const stream = streams.get(type);
  if (stream === undefined) throw new Error(`${path} has no ${type}`);
  return stream;
}

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
  // Not converted to gray, so that luma stays as coded.
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
