export { AUDIO_SAMPLE_RATE, readAudio, recordAudio } from './audio/audio-reader';
export { type Binaries, type BinaryEnvironment, resolveBinaries } from './ffmpeg/binaries';
export { codecThreads, usableMemory } from './ffmpeg/machine-share';
export { openEncoder } from './encode/encoder';
export { type EncoderSettings } from './encode/encoder-arguments';
export { audioEncoderArguments, type EncoderAudio } from './encode/encoder-audio';
export { type FrameEncoder } from './encode/frame-encoder';
export { type FrameLayout } from './decode/frame-filters';
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
} from './codecs/resolve-video-codecs';
export {
  type ReplacedCodec,
  VIDEO_DECODERS,
  VIDEO_ENCODERS,
  type VideoCodecs,
  type VideoDecoder,
  type VideoEncoder,
} from './ffmpeg/video-codecs';
export { videoEncoderArguments } from './encode/video-encoder-arguments';
