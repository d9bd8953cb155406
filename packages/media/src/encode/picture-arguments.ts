import { type VideoCodecs, type VideoEncoder } from '../ffmpeg/binaries';
import { type HdrMetadata } from '../probe/stream-info';

/** What the choice of an encoder depends on. */
export interface EncodedPictures {
  readonly width: number;
  readonly height: number;
  readonly depth: 8 | 10;
}

/** Runs on the processor, and takes pictures of every size. */
export function softwareEncoder({ depth }: Pick<EncodedPictures, 'depth'>): VideoEncoder {
  return depth === 8 ? 'libx264' : 'libx265';
}

/**
 * Cards refuse H.264 below 145x49 and gain nothing on small pictures. Their upper limit exceeds what is accepted as
 * input.
 */
const NVENC_MIN_SIDE = 256;

/** Chooses the encoder for such pictures: the configured one, or the one that takes every size. */
export function encoderFor(codecs: VideoCodecs, pictures: EncodedPictures): VideoEncoder {
  const { width, height, depth } = pictures;
  if (Math.min(width, height) < NVENC_MIN_SIDE) return softwareEncoder(pictures);
  return depth === 8 ? codecs.encoder : codecs.deepEncoder;
}

interface EncodingOptions {
  readonly threads: number;
  /** Pictures per second, as a rule. */
  readonly fps: number;
  readonly hdr?: HdrMetadata | undefined;
}

/** Output arguments for the pictures: constant quality, every incoming frame kept, 4:2:0. */
export function videoEncoderArguments(encoder: VideoEncoder, options: EncodingOptions): string[] {
  return ['-c:v', encoder, ...ENCODER_ARGUMENTS[encoder](options)];
}

/**
 * `-cq` only counts with the average rate at 0. Look-ahead and adaptive quantization give what x264 does by default.
 * B-frames as references are left out because older cards lack them.
 */
const NVENC = [
  ...['-preset', 'p4', '-tune', 'hq', '-rc', 'vbr', '-cq', '19', '-b:v', '0', '-bf', '3'],
  ...['-rc-lookahead', '20', '-spatial-aq', '1', '-temporal-aq', '1'],
];

/** MP4's name for HEVC whose parameters are in the header; Apple's players know no other. */
const HEVC_TAG = ['-tag:v', 'hvc1'];

/** Visually lossless for a talking head, where a picture is on screen for 0.04 s. */
const RATE_FACTOR = 17;
/**
 * x264 and x265 code pictures that are on screen for half as long more coarsely by so much: six times what their
 * `qcompress`, 0.6, leaves of 1.
 */
const COARSER_BY_RATE = 2.4;

/** The rate factor with which a picture is as good at any rate: editors look at single ones. */
function rateFactor(fps: number): string {
  return String(Math.round((RATE_FACTOR - COARSER_BY_RATE * Math.log2(fps * 0.04)) * 10) / 10);
}

/** How each encoder is asked for constant quality, with no cap on the rate. */
const ENCODER_ARGUMENTS: Readonly<Record<VideoEncoder, (options: EncodingOptions) => readonly string[]>> = {
  // `veryfast` is where more time stops buying quality (medium: 2.7 times the time, the same size).
  libx264: ({ threads, fps }) => [
    ...['-preset', 'veryfast', '-crf', rateFactor(fps), '-threads:v', String(threads)],
    ...['-pix_fmt', 'yuv420p'],
  ],
  // As many bytes as x264 with the same factor, and 1 dB closer to the source (PSNR), in three times its time;
  // `veryfast` takes half as long again for another decibel.
  libx265: ({ threads, fps, hdr }) => [
    ...['-preset', 'superfast', '-crf', rateFactor(fps), '-x265-params', x265Parameters(threads, hdr)],
    ...['-pix_fmt', 'yuv420p10le', ...HEVC_TAG],
  ],
  h264_nvenc: () => [...NVENC, '-profile:v', 'high', '-pix_fmt', 'yuv420p'],
  hevc_nvenc: () => [...NVENC, '-profile:v', 'main10', '-pix_fmt', 'p010le', ...HEVC_TAG],
};

/** Each picture that is encoded at the same time takes memory; rows of one picture are encoded at the same time anyway. */
const THREADS_OF_PICTURE = 4;

function x265Parameters(threads: number, { masteringDisplay, contentLight }: HdrMetadata = {}): string {
  const parameters = [
    ...['log-level=none', `pools=${threads}`, `frame-threads=${Math.ceil(threads / THREADS_OF_PICTURE)}`],
    // Every keyframe can be the first picture of a part, as with x264.
    'open-gop=0',
  ];
  if (masteringDisplay !== undefined) {
    const { red, green, blue, white, luminance } = masteringDisplay;
    const primaries = `G(${green.join()})B(${blue.join()})R(${red.join()})WP(${white.join()})`;
    parameters.push(`master-display=${primaries}L(${luminance.max},${luminance.min})`);
  }
  if (contentLight !== undefined) parameters.push(`max-cll=${contentLight.maxCll},${contentLight.maxFall}`);
  return parameters.join(':');
}
