export { AUDIO_SAMPLE_RATE, readAudio, recordAudio } from './audio-reader';
export { type ClipFrames } from './decode/clip-clock';
export { type ClipReader, openClipReader } from './decode/clip-reader';
export { deinterlaced } from './decode/decoder-arguments';
export { openAhead, openFrameSource } from './decode/frame-source';
export { type FrameReader } from './decode/picture-reader';
export { type FrameEncoder, openEncoder } from './encode/encoder';
export { type OutputFormat, outputFormat } from './encode/output-format';
export { videoEncoderArguments } from './encode/picture-arguments';
export { audioEncoderArguments } from './encode/sound-arguments';
export { timecodeOf } from './encode/timecode';
export {
  type Binaries,
  codecThreads,
  type ReplacedCodec,
  resolveBinaries,
  usableMemory,
  VIDEO_DECODERS,
  VIDEO_ENCODERS,
  VIDEO_OUTPUTS,
} from './ffmpeg/binaries';
export { isMediaError, MediaError, MediaProcessError } from './media-error';
export { measureScan } from './probe/decode-check';
export { inspect } from './probe/inspect';
export { MEDIA_LIMITS } from './probe/media-limits';
export { probe, type ProbedAudio, type ProbedVideo, type ProbeResult } from './probe/probe';
export { readStoredStream, storedStream } from './probe/stored-stream';
export { type AudioStream, frameColor, frameSize, transferOf, type VideoStream } from './probe/stream-info';
export { resolveVideoCodecs } from './resolve-video-codecs';
