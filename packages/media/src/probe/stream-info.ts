import { type Rational } from '@lipsync/domain';

/** Color description in ffmpeg's names; an absent member is unspecified in the source and stays so in the output. */
export interface ColorTags {
  readonly range?: 'tv' | 'pc';
  readonly matrix?: string;
  readonly primaries?: string;
  readonly transfer?: string;
}

/** A point of the CIE 1931 diagram in units of 1/50000. */
export type Chromaticity = readonly [x: number, y: number];

/** What is known of the display and the light of HDR video, in the integer units of its messages (H.265, D.3.28, D.3.35). */
export interface HdrMetadata {
  /** The display that it was graded on (SMPTE ST 2086). */
  readonly masteringDisplay?: {
    readonly red: Chromaticity;
    readonly green: Chromaticity;
    readonly blue: Chromaticity;
    readonly white: Chromaticity;
    /** In units of 0.0001 cd/m². */
    readonly luminance: { readonly min: number; readonly max: number };
  };
  /** The lightest sample and the mean of the lightest picture (CTA-861.3), in cd/m²; 0 is unknown. */
  readonly contentLight?: { readonly maxCll: number; readonly maxFall: number };
}

/** How pictures are stored: whole, or as two fields of which the one with the top line is first (`tff`) or second. */
export type Scan = 'progressive' | 'tff' | 'bff';

/** The first video stream that is not a cover picture. `inspect` reads it from the container. */
export interface VideoStream {
  readonly codec: string;
  /** Displayed size in pixels, after rotation. May be odd; frames are read at `frameSize`. */
  readonly width: number;
  readonly height: number;
  /** Average frames per second according to the container; 0 when the container does not say. */
  readonly fps: number;
  /** The constant rate that the container claims; null if it claims none. */
  readonly rate: Rational | null;
  /** `inspect` reports what the stream is flagged as, which may be wrong. */
  readonly scan: Scan;
  readonly pixFmt: string;
  /** Bits of a sample of the frames that a reader yields: 10 for every source of more than 8. */
  readonly depth: 8 | 10;
  /** Whether pictures have transparent parts. */
  readonly alpha: boolean;
  readonly color: ColorTags;
  /** Empty for SDR, and for HDR of which nothing is known. */
  readonly hdr: HdrMetadata;
  /** SMPTE timecode of the first picture, such as 01:00:00:00; with ";" or "." before the frame if frames are dropped. */
  readonly timecode?: string;
  /** Width of a pixel over its height, after rotation. */
  readonly pixelAspect: Rational;
  readonly timeBase: Rational;
  /** The filters that turn the pictures upright, see `uprightFilters`; null leaves that to ffmpeg. */
  readonly upright: readonly string[] | null;
}

/** The first audio stream. */
export interface AudioStream {
  readonly codec: string;
  /** The codec's variant by ffmpeg's name ("LC", "HE-AAC"); absent where there is none. */
  readonly profile?: string;
  readonly sampleRate: number;
  readonly channels: number;
  /** ISO 639-2 code; absent if undetermined. */
  readonly language?: string;
  /** Seconds from the file's first timestamp to the first sample; an output's sound begins with its first sample. */
  readonly startSeconds: number;
}

/** Size of the frames that a reader yields: even in both directions, as 4:2:0 requires, by dropping the last line. */
export function frameSize(video: Pick<VideoStream, 'width' | 'height'>): { width: number; height: number } {
  return { width: video.width - (video.width % 2), height: video.height - (video.height % 2) };
}

/** True when the stored samples are full range, by tag or by the old yuvj formats. */
export function isFullRange(video: Pick<VideoStream, 'pixFmt' | 'color'>): boolean {
  return video.color.range === 'pc' || video.pixFmt.startsWith('yuvj');
}

/** How samples relate to light: gamma, SMPTE ST 2084 or ARIB STD-B67. Anything else that a tag may say is near gamma. */
export function transferOf({ color }: Pick<VideoStream, 'color'>): 'sdr' | 'pq' | 'hlg' {
  if (color.transfer === 'smpte2084') return 'pq';
  return color.transfer === 'arib-std-b67' ? 'hlg' : 'sdr';
}

/** True when the samples are RGB, so that the conversion to 4:2:0 must choose a matrix. */
export function isRgb(video: Pick<VideoStream, 'pixFmt'>): boolean {
  return /^(gbr|rgb|bgr|argb|abgr)/.test(video.pixFmt);
}

/** Tags of the frames that a reader yields; the output must carry them. */
export function frameColor(video: Pick<VideoStream, 'pixFmt' | 'color'>): ColorTags {
  if (isRgb(video)) return { ...video.color, range: 'tv', matrix: 'bt709' };
  return isFullRange(video) ? { ...video.color, range: 'pc' } : video.color;
}

/** A row of a display matrix as ffprobe prints it: its number, then three integers. */
const ROW = /^\s*[0-9a-f]+:\s+(-?\d+)\s+(-?\d+)\s+-?\d+/gm;

/**
 * The filters that turn a picture stored under this display matrix upright (ISO/IEC 14496-12, 8.3.2; ffprobe's text):
 * none when there is no matrix. Null for a matrix not made of quarter turns and mirrors, which is left to ffmpeg's own
 * guess.
 */
export function uprightFilters(matrix: string | undefined): readonly string[] | null {
  if (matrix === undefined) return [];
  const [[a = NaN, b = NaN] = [], [c = NaN, d = NaN] = []] = Array.from(matrix.matchAll(ROW), (row) =>
    row.slice(1).map(Number),
  );
  if (b === 0 && c === 0 && a !== 0 && d !== 0) {
    return [...(a < 0 ? ['hflip'] : []), ...(d < 0 ? ['vflip'] : [])];
  }
  if (a !== 0 || d !== 0 || !b || !c) return null;
  // A row of the picture becomes a column, from the top if b > 0; the rows follow from the left if c > 0.
  const direction = b > 0 ? (c > 0 ? 'cclock_flip' : 'clock') : c > 0 ? 'cclock' : 'clock_flip';
  return [`transpose=${direction}`];
}

/** Whether these filters swap width and height. */
export function exchangesSides(filters: readonly string[]): boolean {
  return filters.some((filter) => filter.startsWith('transpose'));
}
