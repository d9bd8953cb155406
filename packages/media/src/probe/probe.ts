import { MEDIA_MAX_SECONDS } from '@lipsync/domain';
import { AUDIO_SAMPLE_RATE, readAudio } from '../audio-reader';
import { type Binaries } from '../ffmpeg/binaries';
import { beyondLimit, MediaError } from '../media-error';
import { checkContainer, checkPictures } from './decode-check';
import { inspect, picturesTooLarge } from './inspect';
import { AUDIO_CODECS, isAudioCodec, MEDIA_LIMITS, VIDEO_CODECS } from './media-limits';
import { readPacketTable, tableSeconds } from './packet-table';
import { isCutShort } from './promised-length';
import { scanOf } from './scan';
import { type AudioStream, type VideoStream } from './stream-info';

/**
 * Full scale is 1, and float recordings may exceed it. Samples beyond this value, infinite or NaN are damage: neither
 * the networks nor the encoder can work with them.
 */
const LOUDEST = 10_000;

/** A stream that was read to its end: everything here was counted or decoded; nothing is a header's claim. */
export interface ProbedVideo extends VideoStream {
  /** Pictures in the stream. */
  readonly frames: number;
  readonly durationSeconds: number;
}

export interface ProbedAudio extends AudioStream {
  readonly durationSeconds: number;
}

/** Contains exactly the stream that was asked for. */
export interface ProbeResult {
  readonly video?: ProbedVideo;
  readonly audio?: ProbedAudio;
}

interface ProbeOptions {
  readonly mediaType: 'video' | 'audio';
  /** Wall-clock limit of each decoding pass. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Decides whether an untrusted file is usable as the video or the audio of a render, and measures it.
 * @throws MediaError media_unsupported, media_corrupt, media_too_long or media_type_mismatch; MediaProcessError when
 * no verdict could be reached.
 */
export async function probe(binaries: Binaries, file: string, options: ProbeOptions): Promise<ProbeResult> {
  const info = await inspect(binaries, file, options.signal);
  if (options.mediaType === 'video') {
    if (info.video === undefined) throw new MediaError('media_type_mismatch', 'there is no video stream');
    if (info.tooLarge && info.video.width === 0) throw picturesTooLarge();
    return { video: await probeVideo(binaries, file, info.format, info.video, options) };
  }
  if (info.audio === undefined) throw new MediaError('media_type_mismatch', 'there is no audio stream');
  return { audio: await probeAudio(binaries, file, info.format, info.audio, options) };
}

async function probeVideo(
  binaries: Binaries,
  file: string,
  format: string,
  stream: VideoStream,
  options: ProbeOptions,
): Promise<ProbedVideo> {
  requireSupportedPictures(stream);
  const table = await readPacketTable(binaries, file, MEDIA_LIMITS.maxPictures, options.signal);
  if (table.pts.length === 0) throw new MediaError('media_corrupt', 'the video stream holds no pictures');
  const durationSeconds = tableSeconds(table, stream.timeBase);
  if (durationSeconds > MEDIA_LIMITS.maxSeconds) throw tooLong('video', durationSeconds);
  if (!(durationSeconds > 0)) throw new MediaError('media_corrupt', 'the video has no duration');
  if (format === 'mpegts' && table.stepBack * stream.timeBase.num > stream.timeBase.den) throw joined();
  await checkLength(binaries, file, format, '0:V:0', options);
  const { decoded, fields } = await checkPictures(
    binaries,
    file,
    // MPEG-TS may have a packet for each of the two fields of a picture.
    { codec: stream.codec, pictures: table.pts.length / (stream.scan === 'progressive' ? 1 : 2) },
    options,
  );
  const measured = { frames: decoded, durationSeconds, fps: decoded / durationSeconds };
  return { ...stream, ...measured, scan: scanOf(fields, { ...stream, ...measured }) };
}

function requireSupportedPictures(stream: VideoStream): void {
  const { codec, width, height } = stream;
  if (width === 0 || height === 0) throw new MediaError('media_corrupt', 'no picture could be read');
  if (!VIDEO_CODECS.has(codec)) throw unsupportedCodec('video', codec);
  const exceeded = exceededSize(stream);
  if (exceeded !== undefined) throw beyondLimit('media_unsupported', exceeded);
}

/** Which limit the size of the pictures exceeds, as a sentence. */
function exceededSize({ width, height }: VideoStream): string | undefined {
  const { minSide, maxSide, maxPixels } = MEDIA_LIMITS;
  if (width > maxSide) return `The frames are ${width} pixels wide; they may be at most ${maxSide}.`;
  if (height > maxSide) return `The frames are ${height} pixels high; they may be at most ${maxSide}.`;
  if (width < minSide) return `The frames are ${width} pixels wide; they must be at least ${minSide}.`;
  if (height < minSide) return `The frames are ${height} pixels high; they must be at least ${minSide}.`;
  if (width * height <= maxPixels) return undefined;
  return `The frames measure ${width}x${height}, ${width * height} pixels; they may have at most ${maxPixels} (4096x2160).`;
}

function tooLong(what: 'video' | 'audio', seconds: number): MediaError {
  return beyondLimit(
    'media_too_long',
    `The ${what} lasts ${seconds.toFixed(1)} seconds; it may last at most ${MEDIA_MAX_SECONDS}.`,
  );
}

/** For recordings that were joined byte by byte: the clock starts again with each, and all but the first would be lost. */
function joined(): MediaError {
  return beyondLimit(
    'media_unsupported',
    'The timestamps of the video jump back, as where recordings were joined; export it again as one file.',
  );
}

function unsupportedCodec(what: 'video' | 'audio', codec: string): MediaError {
  const names = what === 'video' ? VIDEO_CODECS.values() : [...AUDIO_CODECS.values(), 'PCM'];
  return beyondLimit(
    'media_unsupported',
    `The ${what} codec ${codec} is not supported; use one of ${[...new Set(names)].join(', ')}.`,
  );
}

async function probeAudio(
  binaries: Binaries,
  file: string,
  format: string,
  stream: AudioStream,
  options: ProbeOptions,
): Promise<ProbedAudio> {
  if (!isAudioCodec(stream.codec)) throw unsupportedCodec('audio', stream.codec);
  await checkLength(binaries, file, format, '0:a:0', options);
  const samples = await readAudio(binaries, file, { ...options, strictly: stream.codec });
  const durationSeconds = samples.length / AUDIO_SAMPLE_RATE;
  if (durationSeconds > MEDIA_LIMITS.maxSeconds) throw tooLong('audio', durationSeconds);
  if (samples.length === 0) throw new MediaError('media_corrupt', 'the audio stream holds no sound');
  if (!samples.every((sample) => Math.abs(sample) <= LOUDEST))
    throw new MediaError('media_corrupt', 'a sample is not a number, or far beyond full scale');
  return { ...stream, durationSeconds };
}

/** A mere row of packets: whatever is there is all of it, and damage shows in what is decoded. */
const ROWS_OF_PACKETS: ReadonlySet<string> = new Set(['mpegts', 'aac', 'ac3', 'eac3']);
/** ffmpeg counts an incomplete last block as an error, and the last block of PCM is rarely complete. */
const BLOCKS_OF_SAMPLES: ReadonlySet<string> = new Set(['wav', 'aiff']);

/** Fails for a file that was cut short: its header promises more than there is. */
async function checkLength(
  binaries: Binaries,
  file: string,
  format: string,
  stream: '0:V:0' | '0:a:0',
  options: ProbeOptions,
): Promise<void> {
  if (await isCutShort(file, format))
    throw new MediaError('media_corrupt', 'the sound ends before its header says');
  if (ROWS_OF_PACKETS.has(format) || BLOCKS_OF_SAMPLES.has(format)) return;
  await checkContainer(binaries, file, stream, options);
}
