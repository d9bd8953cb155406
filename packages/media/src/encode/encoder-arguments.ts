import { resolve } from 'node:path';
import { WORKING_FPS } from '@lipsync/domain';
import { FILL_HOLES } from '../audio-reader';
import { type VideoEncoder } from '../ffmpeg/binaries';
import { FFMPEG_GLOBAL, ffmpegInput } from '../ffmpeg/input-arguments';
import { type AudioStream, type ColorTags, type Rational } from '../probe/stream-info';

export interface EncoderSettings {
  readonly outputPath: string;
  /** Even, as the reader yields them. */
  readonly width: number;
  readonly height: number;
  /** Exactly this many frames will be written. */
  readonly frames: number;
  /** Tags of the frames (`frameColor` of the source); unspecified stays unspecified. */
  readonly color: ColorTags;
  readonly pixelAspect?: Rational;
  readonly audio: EncoderAudio;
}

/** The encoder's arguments after the program's name: raw frames on stdin, one MP4 out, one encode. */
export function encoderArguments(
  settings: EncoderSettings,
  encoder: VideoEncoder,
  threads: number,
): string[] {
  const { width, height, audio } = settings;
  const picture = ['-f', 'rawvideo', '-pixel_format', 'yuv420p', '-video_size', `${width}x${height}`];
  return [
    ...FFMPEG_GLOBAL,
    ...[...picture, '-framerate', String(WORKING_FPS), '-i', 'pipe:0'],
    ...audioInput(audio),
    ...['-map', '0:v:0', '-map', '1:a:0', '-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'],
    // No -frames:v: ffmpeg closes every stream of the file on reaching that count, and the sound loses its end.
    ...[
      '-vf',
      tagFilter(settings),
      ...videoEncoderArguments(encoder, threads),
      ...audioEncoderArguments(audio),
    ],
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${resolve(settings.outputPath)}`],
  ];
}

/** Labels the frames without touching a sample, so that no version of ffmpeg sees a reason to convert them. */
function tagFilter({ color, pixelAspect }: EncoderSettings): string {
  const tags = [
    ...(color.range === undefined ? [] : [`range=${color.range}`]),
    ...(color.matrix === undefined ? [] : [`colorspace=${color.matrix}`]),
    ...(color.primaries === undefined ? [] : [`color_primaries=${color.primaries}`]),
    ...(color.transfer === undefined ? [] : [`color_trc=${color.transfer}`]),
  ];
  const aspect = `setsar=${pixelAspect?.num ?? 1}/${pixelAspect?.den ?? 1}`;
  return tags.length === 0 ? aspect : `setparams=${tags.join(':')},${aspect}`;
}

/**
 * Cards refuse H.264 below 145x49 and gain nothing on small pictures. Their upper limit exceeds what is accepted as
 * input.
 */
const NVENC_MIN_SIDE = 256;

/** How each encoder is asked for constant quality, with no cap on the rate. */
const ENCODER_ARGUMENTS: Readonly<Record<VideoEncoder, (threads: number) => readonly string[]>> = {
  // `veryfast` is where more time stops buying quality (medium: 2.7 times the time, the same size); crf 17 is visually
  // lossless for a talking head.
  libx264: (threads) => [
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '17'],
    ...['-threads:v', String(threads)],
  ],
  // `-cq` only counts with the average rate at 0. Look-ahead and adaptive quantization give what x264 does by default.
  // B-frames as references are left out because older cards lack them.
  h264_nvenc: () => [
    ...['-c:v', 'h264_nvenc', '-preset', 'p4', '-tune', 'hq', '-profile:v', 'high'],
    ...['-rc', 'vbr', '-cq', '19', '-b:v', '0', '-bf', '3'],
    ...['-rc-lookahead', '20', '-spatial-aq', '1', '-temporal-aq', '1'],
  ],
};

/** Chooses the encoder for pictures of this size: the configured one, or the one that takes every size. */
export function encoderForSize(encoder: VideoEncoder, width: number, height: number): VideoEncoder {
  return Math.min(width, height) < NVENC_MIN_SIDE ? 'libx264' : encoder;
}

/** Output arguments for the pictures: constant quality, every incoming frame kept, 8-bit 4:2:0. */
export function videoEncoderArguments(encoder: VideoEncoder, threads: number): string[] {
  return [...ENCODER_ARGUMENTS[encoder](threads), '-pix_fmt', 'yuv420p'];
}

/** The sound of an output: the original file, cut or extended with silence where the sync mode requires it. */
interface EncoderAudio {
  readonly path: string;
  readonly stream: AudioStream;
  /** Keep only this many seconds. */
  readonly trimSeconds?: number | undefined;
  /** Extend with silence up to this time. */
  readonly padToSeconds?: number | undefined;
}

/** Samples per packet, for the profiles that every MP4 player decodes. */
const PACKET_SAMPLES: Readonly<Record<string, number>> = { LC: 1024, 'HE-AAC': 2048, 'HE-AACv2': 2048 };
/** Highest sample rate that AAC players agree on; the output keeps the original's rate below this limit. */
const AAC_RATE_MAX = 48_000;
const SURROUND_CHANNELS = 6;

/**
 * True when the original packets are copied unchanged. MP4 can hold codecs other than AAC, but not every player plays
 * them there. A cut falls between two packets, so the encoder makes the cut where a packet is longer than a frame.
 */
export function copiesAudio(audio: EncoderAudio): boolean {
  const { codec, profile = '', sampleRate } = audio.stream;
  const packetSamples = codec === 'aac' ? PACKET_SAMPLES[profile] : undefined;
  if (packetSamples === undefined || audio.padToSeconds !== undefined) return false;
  return audio.trimSeconds === undefined || packetSamples / sampleRate <= 1 / WORKING_FPS;
}

/** Input arguments for the sound's file. */
function audioInput(audio: EncoderAudio): string[] {
  const { startSeconds } = audio.stream;
  return ffmpegInput(audio.path, [
    // A sound that starts late in its own file starts together with the picture here.
    ...(startSeconds > 0 ? ['-itsoffset', (-startSeconds).toFixed(6)] : []),
    ...(copiesAudio(audio) && audio.trimSeconds !== undefined ? ['-t', audio.trimSeconds.toFixed(6)] : []),
  ]);
}

/**
 * Output arguments for the sound: copied, otherwise AAC with the original's rate and channels where players support
 * them.
 */
export function audioEncoderArguments(audio: EncoderAudio): string[] {
  if (copiesAudio(audio)) return ['-c:a', 'copy'];
  const { sampleRate, channels } = audio.stream;
  const surround = channels === SURROUND_CHANNELS;
  return [
    ...['-af', filters(audio).join(','), '-c:a', 'aac', '-b:a', surround ? '384k' : '192k'],
    ...(sampleRate > AAC_RATE_MAX ? ['-ar', String(AAC_RATE_MAX)] : []),
    ...(channels > 2 ? ['-ac', surround ? String(SURROUND_CHANNELS) : '2'] : []),
  ];
}

/** Time zero is the first sample, but only at the beginning of the sound, not where filters restart. */
const FROM_ZERO = 'asetpts=PTS-STARTPTS*lt(STARTT\\,0.1)';

/**
 * The filters go by the sound's own clock, never by a sample count: where the channels change midway (joined MP3s,
 * chained Ogg), ffmpeg starts new filters, and counts would start again.
 */
function filters({ trimSeconds, padToSeconds }: EncoderAudio): string[] {
  const end = padToSeconds ?? trimSeconds;
  return [
    ...[FROM_ZERO, `aresample=${FILL_HOLES}`],
    ...(padToSeconds === undefined ? [] : ['apad']),
    ...(end === undefined ? [] : [`atrim=end=${end.toFixed(6)}`]),
  ];
}
