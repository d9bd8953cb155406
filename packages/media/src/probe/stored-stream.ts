import { z } from 'zod';
import { type ProbedAudio, type ProbedVideo, type ProbeResult } from './probe';

/** Rises with every change of the types that are stored, so that streams which an older version stored are probed again. */
const FORM = 1;

const rational = z.strictObject({ num: z.int().positive(), den: z.int().positive() });
const chromaticity = z.tuple([z.int().nonnegative(), z.int().nonnegative()]);
const tag = z.string().exactOptional();

const video: z.ZodType<ProbedVideo> = z.strictObject({
  codec: z.string(),
  width: z.int().positive(),
  height: z.int().positive(),
  fps: z.number().positive(),
  rate: rational.nullable(),
  scan: z.enum(['progressive', 'tff', 'bff']),
  pixFmt: z.string(),
  depth: z.literal([8, 10]),
  alpha: z.boolean(),
  color: z.strictObject({
    range: z.enum(['tv', 'pc']).exactOptional(),
    matrix: tag,
    primaries: tag,
    transfer: tag,
  }),
  hdr: z.strictObject({
    masteringDisplay: z
      .strictObject({
        red: chromaticity,
        green: chromaticity,
        blue: chromaticity,
        white: chromaticity,
        luminance: z.strictObject({ min: z.int().nonnegative(), max: z.int().nonnegative() }),
      })
      .exactOptional(),
    contentLight: z
      .strictObject({ maxCll: z.int().nonnegative(), maxFall: z.int().nonnegative() })
      .exactOptional(),
  }),
  timecode: tag,
  pixelAspect: rational,
  timeBase: rational,
  upright: z.array(z.string()).nullable(),
  frames: z.int().positive(),
  durationSeconds: z.number().positive(),
});

const audio: z.ZodType<ProbedAudio> = z.strictObject({
  codec: z.string(),
  profile: tag,
  sampleRate: z.int().positive(),
  channels: z.int().positive(),
  language: tag,
  startSeconds: z.number().nonnegative(),
  durationSeconds: z.number().positive(),
});

const stored = z.strictObject({
  form: z.literal(FORM),
  streams: z.strictObject({ video: video.exactOptional(), audio: audio.exactOptional() }),
});

/** A probe's result as JSON, to be kept beside the file so that nobody inspects it again. */
export function storedStream(probed: ProbeResult): { form: number; streams: ProbeResult } {
  return { form: FORM, streams: probed };
}

/** What `storedStream` made. Empty for null, and for the form of another version. */
export function readStoredStream(value: unknown): ProbeResult {
  return stored.safeParse(value).data?.streams ?? {};
}
