import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MEDIA_MAX_SECONDS } from '@lipsync/domain';
import { type Binaries } from '../ffmpeg/binaries';
import { MAX_PIXELS, MAX_STREAMS, probeInput } from '../ffmpeg/input-arguments';
import { DEMUXING_MEMORY_BYTES, runToEnd } from '../ffmpeg/media-child';
import { beyondLimit, MediaError, MediaProcessError } from '../media-error';
import { isSteadyAdts, looksLikeMedia } from './file-headers';
import {
  type AudioStream,
  type ColorTags,
  exchangesSides,
  type Rational,
  uprightFilters,
  type VideoStream,
} from './stream-info';

const INSPECT_DEADLINE_MS = 30_000;
/** 301 s of PCM at 192 kHz, whose samples QuickTime counts one by one. */
const SAMPLES_MAX = (MEDIA_MAX_SECONDS + 1) * 192_000;
const REPORT_MAX_BYTES = 1024 * 1024;

/** ffprobe's messages about a file that it refuses to read. */
const FORMAT_REFUSED = 'whitelist';
const TOO_MANY_STREAMS = 'max_streams';
const TOO_LARGE = 'max pixel count';

const FORMATS_DETAIL = 'The file is none of MP4, QuickTime, Matroska, WebM, WAV, MP3, AAC, FLAC and Ogg.';

/** The only report entries that are read: titles and lyrics may be of any length. */
const ENTRIES = [
  'stream=codec_type,codec_name,profile,width,height,pix_fmt,sample_aspect_ratio,avg_frame_rate,time_base,start_time,' +
    'color_range,color_space,color_primaries,color_transfer,sample_rate,channels,nb_frames',
  'stream_disposition=attached_pic',
  'stream_side_data=displaymatrix,rotation',
  'format=start_time,format_name',
].join(':');

/** What a container says about its first picture and sound stream. All claims, except codec and geometry. */
export interface ContainerInfo {
  /** ffprobe's name of the container, such as `wav`. */
  readonly format: string;
  /** Pictures were too large to be examined: those of a cover, or those of the video if it has no size. */
  readonly tooLarge: boolean;
  readonly video?: VideoStream;
  readonly audio?: AudioStream;
}

/**
 * Reads container facts with the hardened ffprobe; tens of milliseconds, nothing decoded but what ffprobe needs.
 * @throws MediaError media_unsupported (no allowed container, too many streams) or media_corrupt (unreadable).
 */
export async function inspect(
  binaries: Binaries,
  file: string,
  signal?: AbortSignal,
): Promise<ContainerInfo> {
  const command = [
    binaries.ffprobe,
    ...['-show_entries', ENTRIES, '-of', 'json'],
    ...probeInput(file),
  ] as const satisfies readonly [string, ...string[]];
  const options = {
    folder: dirname(file),
    deadlineMs: INSPECT_DEADLINE_MS,
    memoryBytes: DEMUXING_MEMORY_BYTES,
    signal,
  };
  const { exit, stdout } = await runToEnd(binaries, command, options, REPORT_MAX_BYTES);
  if (exit.ended !== 'exit') throw new MediaProcessError(exit.ended, exit.stderr);
  if (exit.code !== 0) {
    if (exit.stderr.includes(TOO_MANY_STREAMS))
      throw beyondLimit('media_unsupported', `The file holds more than ${MAX_STREAMS} streams.`);
    if (exit.stderr.includes(TOO_LARGE)) throw picturesTooLarge();
    if (exit.stderr.includes(FORMAT_REFUSED) || !(await looksLikeMedia(file)))
      throw new MediaError('media_unsupported', exit.stderr, FORMATS_DETAIL);
    throw new MediaError('media_corrupt', exit.stderr);
  }
  const report = fields(JSON.parse(stdout.toString('utf8')));
  await expectSamplesToFit(report, file);
  const info = parseReport(report);
  return { ...info, ...(await soundOf(info, file)), tooLarge: exit.stderr.includes(TOO_LARGE) };
}

/** For pictures that the decoder refuses to open, so that their size is not known. */
export function picturesTooLarge(): MediaError {
  return beyondLimit('media_unsupported', `A picture has more than ${MAX_PIXELS} pixels (4096x2160).`);
}

/**
 * ffprobe takes the profile of a raw AAC stream from its first frame; none is claimed where later frames have another.
 */
async function soundOf(
  { format, audio }: Pick<ContainerInfo, 'format' | 'audio'>,
  file: string,
): Promise<Pick<ContainerInfo, 'audio'>> {
  if (format !== 'aac' || audio === undefined || (await isSteadyAdts(file))) return {};
  const { codec, sampleRate, channels, startSeconds } = audio;
  return { audio: { codec, sampleRate, channels, startSeconds } };
}

/**
 * An index of a few bytes may claim any number of samples, and every tool that opens the file would hold tens of bytes
 * for each sample. A sample takes at least one byte.
 */
async function expectSamplesToFit(report: Record<string, unknown>, file: string): Promise<void> {
  const { size } = await stat(file);
  const claims = list(report['streams']).map((stream) => finite(fields(stream)['nb_frames']) ?? 0);
  if (claims.some((samples) => samples > Math.min(size, SAMPLES_MAX)))
    throw new MediaError('media_corrupt', `${Math.max(...claims)} samples in ${size} bytes`);
}

function parseReport(report: Record<string, unknown>): Omit<ContainerInfo, 'tooLarge'> {
  const streams = list(report['streams']).map(fields);
  const format = fields(report['format']);
  const formatStart = finite(format['start_time']) ?? 0;
  const video = streams.find(
    (s) => s['codec_type'] === 'video' && fields(s['disposition'])['attached_pic'] !== 1,
  );
  const audio = streams.find((s) => s['codec_type'] === 'audio');
  return {
    format: text(format['format_name']) ?? 'unknown',
    ...(video === undefined ? {} : { video: parseVideo(video) }),
    ...(audio === undefined ? {} : { audio: parseAudio(audio, formatStart) }),
  };
}

function parseVideo(stream: Record<string, unknown>): VideoStream {
  const width = finite(stream['width']) ?? 0;
  const height = finite(stream['height']) ?? 0;
  const aspect = rational(stream['sample_aspect_ratio']) ?? { num: 1, den: 1 };
  const rate = rational(stream['avg_frame_rate']);
  const upright = uprightFilters(displayMatrix(stream));
  const turned = upright === null ? Math.abs(rotation(stream)) % 180 === 90 : exchangesSides(upright);
  return {
    codec: text(stream['codec_name']) ?? 'unknown',
    width: turned ? height : width,
    height: turned ? width : height,
    fps: rate === undefined ? 0 : rate.num / rate.den,
    pixFmt: text(stream['pix_fmt']) ?? 'unknown',
    color: parseColor(stream),
    pixelAspect: turned ? { num: aspect.den, den: aspect.num } : aspect,
    timeBase: rational(stream['time_base']) ?? { num: 1, den: 1000 },
    upright,
  };
}

function displayMatrix(stream: Record<string, unknown>): string | undefined {
  return sideData(stream, 'displaymatrix').map(text).find(Boolean);
}

/** Degrees by which ffmpeg turns the picture. */
function rotation(stream: Record<string, unknown>): number {
  return sideData(stream, 'rotation').map(finite).find(Boolean) ?? 0;
}

function sideData(stream: Record<string, unknown>, name: string): unknown[] {
  return list(stream['side_data_list']).map((data) => fields(data)[name]);
}

function parseColor(stream: Record<string, unknown>): ColorTags {
  const range = stream['color_range'];
  const matrix = text(stream['color_space']);
  const primaries = text(stream['color_primaries']);
  const transfer = text(stream['color_transfer']);
  return {
    ...(range === 'tv' || range === 'pc' ? { range } : {}),
    ...(matrix === undefined || matrix === 'reserved' ? {} : { matrix }),
    ...(primaries === undefined || primaries === 'reserved' ? {} : { primaries }),
    ...(transfer === undefined || transfer === 'reserved' ? {} : { transfer }),
  };
}

function parseAudio(stream: Record<string, unknown>, formatStart: number): AudioStream {
  const profile = text(stream['profile']);
  return {
    codec: text(stream['codec_name']) ?? 'unknown',
    ...(profile === undefined ? {} : { profile }),
    sampleRate: finite(stream['sample_rate']) ?? 0,
    channels: finite(stream['channels']) ?? 0,
    startSeconds: Math.max(0, (finite(stream['start_time']) ?? formatStart) - formatStart),
  };
}

/** Readers for the untyped JSON of ffprobe: a value that is missing or of another type is undefined, never a guess. */
function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== 'unknown' && value !== 'N/A'
    ? value
    : undefined;
}

function finite(value: unknown): number | undefined {
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : undefined;
}

/** "30000/1001" or "4:3"; undefined when either part is not a positive integer. */
function rational(value: unknown): Rational | undefined {
  const match = /^(\d+)[/:](\d+)$/.exec(text(value) ?? '');
  const num = Number(match?.[1]);
  const den = Number(match?.[2]);
  return num > 0 && den > 0 ? { num, den } : undefined;
}
