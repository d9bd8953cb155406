import { exchangesSides, type Scan, type VideoStream } from './stream-info';

/**
 * How many pictures seem to be whole, and how many to be two fields with the top or the bottom line first. What does not
 * move looks like neither, and is not counted.
 */
export interface FieldCounts {
  readonly progressive: number;
  readonly tff: number;
  readonly bff: number;
}

/** Looking at every picture would take up to a third as long as decoding, so one in five is looked at, in runs. */
const RUN = 20;
const RUN_EVERY = 100;
/**
 * How much better the fields of one order must fit between their neighbors in time than those of the other: by less,
 * those of grids and scrolled pages do so by chance. And how much better the lines of a whole picture must fit together.
 */
const THRESHOLDS = 'intl_thres=1.2:prog_thres=1.2';
const VERDICT = 'lavfi.idet.single.current_frame';

/**
 * The filters that look for fields in pictures as they are stored. They pass all pictures on as `all` and the examined
 * ones as `some`, of which they print a line each to standard output (https://ffmpeg.org/ffmpeg-filters.html#idet). Every
 * line is a write of its own, so that lines of others do not end up within. Both need an output: ffmpeg 7 stops at a
 * branch that ends in a graph.
 */
export const FIELD_DETECTION =
  `[0:V:0]split[all][picked];[picked]select=lt(mod(n\\,${RUN_EVERY})\\,${RUN}),idet=${THRESHOLDS},` +
  `metadata=print:key=${VERDICT}:file=-:direct=1[some]`;

/** Counts what the filters printed among other lines. */
export function countFields(output: string): FieldCounts {
  const counts = { progressive: 0, tff: 0, bff: 0 };
  const verdicts = Array.from(output.matchAll(VERDICT_LINE), ([, verdict]) => verdict);
  for (const [index, verdict] of verdicts.entries()) {
    // A verdict compares neighbors, and those of the first and the last one of a run are of other runs.
    const place = index % RUN;
    if (place === 0 || place === RUN - 1) continue;
    if (verdict === 'progressive' || verdict === 'tff' || verdict === 'bff') counts[verdict] += 1;
  }
  return counts;
}

const VERDICT_LINE = new RegExp(`^${VERDICT.replaceAll('.', '\\.')}=(\\w+)$`, 'gm');

/** Fewer pictures than this may have been misjudged. */
const EVIDENCE_MIN = 3;
/** Real fields are of one order; noise, grids and enlarged pixels look like fields of both. */
const ORDER_MAJORITY = 4;
/** From this share of moving parts with fields on, deinterlacing harms whole pictures less than leaving fields woven. */
const FIELDS_SHARE = 1 / 8;

/** Pairs of fields come 30 times a second at most. */
const FASTEST_FIELDS_FPS = 30.5;

/**
 * How pictures are stored, by what they show; `stream.fps` is measured. The flag decides only where nothing moves, if
 * pictures of that codec and size may have fields.
 */
export function scanOf(counts: FieldCounts, stream: VideoStream): Scan {
  if (stream.fps > FASTEST_FIELDS_FPS) return 'progressive';
  const { progressive, tff, bff } = counts;
  const fields = Math.max(tff, bff);
  const known = progressive + tff + bff;
  if (known < EVIDENCE_MIN) return mayHaveFields(stream) ? stream.scan : 'progressive';
  const isOrdered = fields >= EVIDENCE_MIN && fields >= ORDER_MAJORITY * Math.min(tff, bff);
  if (!isOrdered || fields < FIELDS_SHARE * known) return 'progressive';
  return tff > bff ? 'tff' : 'bff';
}

const CODECS_WITH_FIELDS: ReadonlySet<string> = new Set([
  'h264',
  'hevc',
  'mpeg2video',
  'mpeg4',
  'mjpeg',
  'prores',
  'dnxhd',
]);
/** The heights of NTSC, PAL and high definition, also with lines that are not shown or that fill the last block. */
const HEIGHTS_WITH_FIELDS: ReadonlySet<number> = new Set([480, 486, 512, 576, 608, 1080, 1088]);

function mayHaveFields({ codec, height, upright }: VideoStream): boolean {
  const isTurned = upright === null || exchangesSides(upright);
  return CODECS_WITH_FIELDS.has(codec) && HEIGHTS_WITH_FIELDS.has(height) && !isTurned;
}
