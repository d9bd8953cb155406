export { type HighsyncParams } from './highsync/highsync-params';
export { WINDOW_STEPS } from './speech/whisper-window';
export { type LatentsyncParams } from './latentsync/latentsync-params';
export {
  openPack,
  openPackFor,
  type Pack,
  type Manifest,
  copyPack,
  readPack,
  parseManifest,
  publishPack,
  type PackEngine,
  readPackAgain,
  writePack,
} from './packs';
export { type HighsyncManifest } from './highsync/highsync-manifest';
export { type LatentsyncManifest } from './latentsync/latentsync-manifest';
export { type MusetalkManifest } from './musetalk/musetalk-manifest';
export { MEL_BANDS } from './speech/mel-filters';
export { SEGMENT_FRAMES, SAMPLE_RATE } from './speech/log-mel';
export {
  decodeFaceTrack,
  type FaceTrack,
  encodeFaceTrack,
  FACE_TRACK_VERSION,
  TRACK_REACH,
  FaceTrackError,
} from './face/face-track';
export { type FollowsVoice, followsVoice, mouthOpenings, FEWEST_MOUTHS } from './follows-voice';
export { recordingOf, type Recording, recordingFrom } from './speech/recording';
export { speechEnvelope } from './speech-envelope';
export { faceBox } from './musetalk/face-box';
export { highsyncFaces } from './highsync/highsync-faces';
export {
  LANDMARK_VALUES,
  MOUTH,
  landmark,
  landmarkCentre,
  LANDMARK_COUNT,
  LEFT_EYE,
  RIGHT_EYE,
} from './face/landmarks68';
export { buildBuiltinPacks } from './builtin-packs';
export { mouthOpening } from './mouth-opening';
export { writeLatentsyncPack } from './latentsync/latentsync-pack';
export { type FeatureLayout, isWorthKeeping } from './feature-layout';
export { type AnalyzerParams } from './analyzer/analyzer-params';
export { buildAnalyzerPack } from './analyzer/build-analyzer-pack';
export { type RunModel, type TakeFloats } from './run-model';
export { faceRuns, smoothingReach, smoothRun } from './face/smoothing';
export { musetalkBoxes } from './musetalk/musetalk-boxes';
export { float32Of, uint8Of, float32Tensor } from './tensors';
export { type Tensor, SessionError, type RunResult, type Tensors } from './tensor';
export {
  type FrameFeatures,
  type LipSyncEngine,
  type FaceEncoder,
  type FrameStream,
  type EngineClip,
  type FaceBatch,
  type GeneratedFaces,
  noFeatures,
} from './engine';
export { openEngine } from './registry';
