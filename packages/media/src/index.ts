export { AUDIO_SAMPLE_RATE, readAudio, recordAudio } from './audio-reader';
export { type Binaries, type BinaryEnvironment, resolveBinaries } from './binaries';
export { codecThreads } from './codec-threads';
export { openEncoder } from './encoder';
export { type EncoderSettings } from './encoder-arguments';
export { audioEncoderArguments, type EncoderAudio } from './encoder-audio';
export { type FrameEncoder } from './frame-encoder';
export { type FrameLayout } from './frame-filters';
export { type FrameReader, type FrameReaderOptions, openFrameReader } from './frame-reader';
export { type FrameSource, type FrameSourceOptions, openFrameSource } from './frame-source';
export { type ContainerInfo, inspect } from './inspect';
export { isMediaError, MediaError, type MediaErrorCode, MediaProcessError } from './media-error';
export { type ProbedAudio, type ProbedVideo, type ProbeOptions, type ProbeResult, probe } from './probe';
export {
  type AudioStream,
  type ColorTags,
  frameColor,
  frameSize,
  type Rational,
  type VideoStream,
} from './stream-info';
export {
  resolveVideoCodecs,
  type ResolvedVideoCodecs,
  VideoCodecError,
  type WantedVideoCodecs,
} from './resolve-video-codecs';
export {
  type ReplacedCodec,
  VIDEO_DECODERS,
  VIDEO_ENCODERS,
  type VideoCodecs,
  type VideoDecoder,
  type VideoEncoder,
} from './video-codecs';
export { videoEncoderArguments } from './video-encoder-arguments';
