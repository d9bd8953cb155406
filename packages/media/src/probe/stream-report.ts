import { type Rational } from '@lipsync/domain';
import {
  type AudioStream,
  type Chromaticity,
  type ColorTags,
  exchangesSides,
  type HdrMetadata,
  type Scan,
  uprightFilters,
  type VideoStream,
} from './stream-info';

/** The entries of side data that `parseHdr` reads. */
export const HDR_ENTRIES =
  'red_x,red_y,green_x,green_y,blue_x,blue_y,white_point_x,white_point_y,min_luminance,max_luminance,' +
  'max_content,max_average';

/** What ffprobe's report says of the container and its first picture and sound stream. */
export function parseStreams(report: Record<string, unknown>): {
  format: string;
  video?: VideoStream;
  audio?: AudioStream;
} {
  const streams = list(report['streams']).map(fields);
  const format = fields(report['format']);
  const formatStart = finite(format['start_time']) ?? 0;
  const video = streams.find(
    (s) => s['codec_type'] === 'video' && fields(s['disposition'])['attached_pic'] !== 1,
  );
  const audio = streams.find((s) => s['codec_type'] === 'audio');
  // A QuickTime timecode is a track of its own, which not every writer links to the video.
  const timecode = [video, ...streams.filter((s) => s['codec_type'] === 'data'), format]
    .map(timecodeOf)
    .find(Boolean);
  return {
    format: text(format['format_name']) ?? 'unknown',
    ...(video === undefined
      ? {}
      : { video: { ...parseVideo(video), ...(timecode === undefined ? {} : { timecode }) } }),
    ...(audio === undefined ? {} : { audio: parseAudio(audio, formatStart) }),
  };
}

function parseVideo(stream: Record<string, unknown>): VideoStream {
  const width = finite(stream['width']) ?? 0;
  const height = finite(stream['height']) ?? 0;
  const aspect = rational(stream['sample_aspect_ratio']) ?? { num: 1, den: 1 };
  const average = rational(stream['avg_frame_rate']);
  const upright = uprightFilters(displayMatrix(stream));
  const turned = upright === null ? Math.abs(rotation(stream)) % 180 === 90 : exchangesSides(upright);
  const pixFmt = text(stream['pix_fmt']) ?? 'unknown';
  return {
    codec: text(stream['codec_name']) ?? 'unknown',
    width: turned ? height : width,
    height: turned ? width : height,
    fps: average === undefined ? 0 : average.num / average.den,
    rate: constantRate(rational(stream['r_frame_rate']), average),
    scan: SCANS[text(stream['field_order']) ?? ''] ?? 'progressive',
    pixFmt,
    depth: isDeep(pixFmt) ? 10 : 8,
    alpha: ALPHA_FORMATS.test(pixFmt) || text(fields(stream['tags'])['alpha_mode']) === '1',
    color: parseColor(stream),
    hdr: parseHdr(stream),
    pixelAspect: turned ? { num: aspect.den, den: aspect.num } : aspect,
    timeBase: rational(stream['time_base']) ?? { num: 1, den: 1000 },
    upright,
  };
}

/** How much the mean rate of a constant one may differ: the last picture's duration is often off. */
const RATE_TOLERANCE = 1e-3;

/** The rate of the shortest step, if the mean rate of all pictures agrees. */
function constantRate(base: Rational | undefined, average: Rational | undefined): Rational | null {
  if (base === undefined || average === undefined) return null;
  const ratio = (average.num * base.den) / (average.den * base.num);
  return Math.abs(ratio - 1) <= RATE_TOLERANCE ? base : null;
}

/** ffprobe's field orders: the field that is coded first, then the one that is shown first. */
const SCANS: Readonly<Record<string, Scan>> = { tt: 'tff', bt: 'tff', bb: 'bff', tb: 'bff' };

/** Whether samples of this pixel format have more than 8 bits: then they have a byte order. */
function isDeep(pixFmt: string): boolean {
  return /[lb]e$/.test(pixFmt) && !PACKED_IN_TWO_BYTES.test(pixFmt);
}

const PACKED_IN_TWO_BYTES = /^(rgb|bgr)(444|555|565)/;
const ALPHA_FORMATS = /^(yuva|gbrap|rgba|argb|abgr|bgra|ya8|ya16|ayuv|vuya)/;

function displayMatrix(stream: Record<string, unknown>): string | undefined {
  return sideData(stream, 'displaymatrix').map(text).find(Boolean);
}

/** Degrees by which ffmpeg turns the picture. */
function rotation(stream: Record<string, unknown>): number {
  return sideData(stream, 'rotation').map(finite).find(Boolean) ?? 0;
}

function sideData(source: Record<string, unknown>, name: string): unknown[] {
  return list(source['side_data_list']).map((data) => fields(data)[name]);
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

const CHROMATICITY_UNITS = 50_000;
const LUMINANCE_UNITS = 10_000;

/** The display and light that the side data of a stream or a picture describe; an incomplete one counts as none. */
export function parseHdr(source: Record<string, unknown>): HdrMetadata {
  const units = (name: string, perUnit: number): number =>
    sideData(source, name)
      .map((value) => unitsOf(value, perUnit))
      .find((value) => value !== undefined) ?? NaN;
  const point = (name: string): Chromaticity => [
    units(`${name}_x`, CHROMATICITY_UNITS),
    units(`${name}_y`, CHROMATICITY_UNITS),
  ];
  const [red, green, blue, white] = [point('red'), point('green'), point('blue'), point('white_point')];
  const luminance = {
    min: units('min_luminance', LUMINANCE_UNITS),
    max: units('max_luminance', LUMINANCE_UNITS),
  };
  const light = { maxCll: units('max_content', 1), maxFall: units('max_average', 1) };
  const display = [red, green, blue, white, Object.values(luminance)].flat();
  return {
    ...(display.some(Number.isNaN) ? {} : { masteringDisplay: { red, green, blue, white, luminance } }),
    ...(Object.values(light).some(Number.isNaN) ? {} : { contentLight: light }),
  };
}

/** "13250/50000" or 1000 in whole units; undefined if it is neither, or negative. */
function unitsOf(value: unknown, perUnit: number): number | undefined {
  const [num, den = 1] = typeof value === 'string' ? value.split('/').map(Number) : [finite(value)];
  const units = Math.round(((num ?? NaN) / den) * perUnit);
  return Number.isSafeInteger(units) && units >= 0 ? units : undefined;
}

/** Hours, minutes, seconds and the frame. */
const TIMECODE = /^\d\d:\d\d:\d\d[:;.]\d\d\d?$/;

function timecodeOf(source: Record<string, unknown> | undefined): string | undefined {
  const tags = fields(source?.['tags']);
  const timecode = text(tags['timecode']) ?? text(tags['TIMECODE']);
  return timecode !== undefined && TIMECODE.test(timecode) ? timecode : undefined;
}

const LANGUAGE = /^[a-z]{3}$/;

function parseAudio(stream: Record<string, unknown>, formatStart: number): AudioStream {
  const profile = text(stream['profile']);
  const language = text(fields(stream['tags'])['language']);
  return {
    codec: text(stream['codec_name']) ?? 'unknown',
    ...(profile === undefined ? {} : { profile }),
    sampleRate: finite(stream['sample_rate']) ?? 0,
    channels: finite(stream['channels']) ?? 0,
    ...(language === undefined || language === 'und' || !LANGUAGE.test(language) ? {} : { language }),
    startSeconds: Math.max(0, (finite(stream['start_time']) ?? formatStart) - formatStart),
  };
}

/** Readers for the untyped JSON of ffprobe: a value that is missing or of another type is undefined, never a guess. */
export function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== 'unknown' && value !== 'N/A'
    ? value
    : undefined;
}

export function finite(value: unknown): number | undefined {
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
