export { AUDIO_SAMPLE_RATE, readAudio, recordAudio } from './audio-reader';
export {
  type Binaries,
  type BinaryEnvironment,
  resolveBinaries,
  codecThreads,
  usableMemory,
  type ReplacedCodec,
  VIDEO_DECODERS,
  VIDEO_ENCODERS,
  type VideoCodecs,
  type VideoDecoder,
  type VideoEncoder,
} from './ffmpeg/binaries';

export { openEncoder, type FrameEncoder } from './encode/encoder';
export {
  type EncoderSettings,
  audioEncoderArguments,
  type EncoderAudio,
  videoEncoderArguments,
} from './encode/encoder-arguments';

export { type FrameLayout } from './decode/decoder-arguments';
export { type FrameReader, type FrameReaderOptions, openFrameReader } from './decode/frame-reader';
export { type FrameSource, type FrameSourceOptions, openFrameSource } from './decode/frame-source';
export { type ContainerInfo, inspect } from './probe/inspect';
export { isMediaError, MediaError, type MediaErrorCode, MediaProcessError } from './media-error';
export {
  type ProbedAudio,
  type ProbedVideo,
  type ProbeOptions,
  type ProbeResult,
  probe,
} from './probe/probe';
export {
  type AudioStream,
  type ColorTags,
  frameColor,
  frameSize,
  type Rational,
  type VideoStream,
} from './probe/stream-info';
export {
  resolveVideoCodecs,
  type ResolvedVideoCodecs,
  VideoCodecError,
  type WantedVideoCodecs,
} from './resolve-video-codecs';
