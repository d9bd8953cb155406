import { type VideoEncoder } from '../ffmpeg/video-codecs';

/**
 * Cards refuse H.264 below 145x49 and gain nothing on small pictures. Their upper limit exceeds what is accepted as
 * input.
 */
const NVENC_MIN_SIDE = 256;

/**
 * `veryfast` is where more time stops buying quality (medium: 2.7 times the time, the same size); crf 17 is visually
 * lossless for a talking head.
 */
const X264 = ['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '17'];

/**
 * Constant quality, no cap on the rate: `-cq` only counts with the average rate at 0. Look-ahead and adaptive
 * quantisation give what x264 does by default. B-frames as references are left out because older cards lack them.
 */
const NVENC = [
  ...['-c:v', 'h264_nvenc', '-preset', 'p4', '-tune', 'hq', '-profile:v', 'high'],
  ...['-rc', 'vbr', '-cq', '19', '-b:v', '0', '-bf', '3'],
  ...['-rc-lookahead', '20', '-spatial-aq', '1', '-temporal-aq', '1'],
];

/** Chooses the encoder for pictures of this size: the configured one, or the one that takes every size. */
export function encoderForSize(encoder: VideoEncoder, width: number, height: number): VideoEncoder {
  return Math.min(width, height) < NVENC_MIN_SIDE ? 'libx264' : encoder;
}

/** Output arguments for the pictures: constant quality, every incoming frame kept, 8-bit 4:2:0. */
export function videoEncoderArguments(encoder: VideoEncoder, threads: number): string[] {
  const codec = encoder === 'h264_nvenc' ? NVENC : [...X264, '-threads:v', String(threads)];
  return [...codec, '-pix_fmt', 'yuv420p'];
}
