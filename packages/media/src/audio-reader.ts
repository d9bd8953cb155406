import { dirname } from 'node:path';
import { MEDIA_MAX_SECONDS } from '@lipsync/domain';
import { type Binaries } from './ffmpeg/binaries';
import { startPipedChild } from './ffmpeg/byte-pipe';
import { FFMPEG_GLOBAL, ffmpegInput } from './ffmpeg/input-arguments';
import { type ChildExit, startChild } from './ffmpeg/media-child';
import { MediaError, MediaProcessError } from './media-error';

/** Sample rate for everything that analyzes the audio. */
export const AUDIO_SAMPLE_RATE = 16_000;
/** One second more than the accepted maximum, so that "too long" can be told from "just long enough". */
const MAX_SECONDS = MEDIA_MAX_SECONDS + 1;
const ERROR_RATE_MAX = '0.02';
/** Their decoders hide a damaged frame, unless they are told to look at its checksum. */
const CHECKSUMMED: ReadonlySet<string> = new Set(['ac3', 'eac3']);
/**
 * Downmixes to the mean of the channels. Without this option ffmpeg normalizes integer mixes but not float mixes, in
 * which two equal channels come out 1.4 times as loud as one.
 */
const MEAN = 'rematrix_maxval=1';
/** ffmpeg meets the limit only to within the length of one packet. */
const SPARE_SAMPLES = 1024;

interface AudioOptions {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Fails when more than 2 % of the stream, which is of this codec, does not decode. */
  readonly strictly?: string;
  /** The second of the file's own clock with which the result begins: silently, if the sound begins later. */
  readonly fromSeconds?: number;
}

/**
 * Decodes the first audio stream to mono 32-bit floats in -1..1 at 16 kHz, 301 s at most; the result's length is the
 * duration of the audio.
 * @throws MediaError media_corrupt, MediaProcessError.
 */
export async function readAudio(
  binaries: Binaries,
  file: string,
  options: AudioOptions,
): Promise<Float32Array> {
  // Memory that is never written to is never allocated: short sounds cost no more than their length.
  const samples = new Float32Array(MAX_SECONDS * AUDIO_SAMPLE_RATE + SPARE_SAMPLES);
  const target = new Uint8Array(samples.buffer);
  const { child, pipe } = await startPipedChild(binaries, audioCommand(binaries, file, options), {
    folder: dirname(file),
    ...options,
  });
  const bytes = await pipe.read(target);
  // Would wait forever for somebody to read the rest. ffmpeg itself never gets here, because of `-t`.
  if (bytes === target.length) child.kill();
  pipe.destroy();
  expectDecoded(await child.exit);
  return samples.subarray(0, Math.floor(bytes / 4));
}

/** Writes the same samples to an open file instead of to memory. The file stays open. */
export async function recordAudio(
  binaries: Binaries,
  file: string,
  target: number,
  options: AudioOptions,
): Promise<void> {
  const child = startChild(binaries, audioCommand(binaries, file, options), {
    folder: dirname(file),
    ...options,
    stdout: target,
  });
  child.stdin.end();
  expectDecoded(await child.exit);
}

function expectDecoded({ ended, code, stderr }: ChildExit): void {
  if (ended !== 'exit') throw new MediaProcessError(ended, stderr);
  if (code !== 0) throw new MediaError('media_corrupt', stderr);
}

function audioCommand(
  { ffmpeg }: Binaries,
  file: string,
  { strictly, fromSeconds }: AudioOptions,
): [string, ...string[]] {
  const checks = CHECKSUMMED.has(strictly ?? '') ? ['-err_detect', 'crccheck+explode'] : [];
  const times = fromSeconds === undefined ? [] : ['-copyts'];
  return [
    ffmpeg,
    ...FFMPEG_GLOBAL,
    ...(strictly === undefined ? [] : ['-max_error_rate', ERROR_RATE_MAX]),
    ...ffmpegInput(file, [...checks, ...times]),
    ...['-map', '0:a:0', '-af', filters(fromSeconds)],
    ...['-ac', '1', '-ar', String(AUDIO_SAMPLE_RATE), '-t', String(MAX_SECONDS), '-f', 'f32le', 'pipe:1'],
  ];
}

/** Time zero is the first sample, or that second of the file's own clock. */
function filters(fromSeconds: number | undefined): string {
  const resampling = `aresample=${AUDIO_SAMPLE_RATE}:${FILL_HOLES}:${MEAN}`;
  return fromSeconds === undefined
    ? `asetpts=PTS-STARTPTS,${resampling}`
    : `asetpts=PTS-(${fromSeconds.toFixed(6)})/TB,${resampling}:first_pts=0:min_hard_comp=0.02`;
}

/**
 * Fills holes in the timestamps with silence, so that what the analysis hears and what the output plays stay aligned.
 */
export const FILL_HOLES = 'async=1';
