export { type HighsyncParams } from './highsync/manifest';
export { WINDOW_STEPS } from './speech/windows';
export { type LatentsyncParams } from './latentsync/manifest';
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
} from './packs';
export { type HighsyncManifest } from './highsync/manifest';
export { type LatentsyncManifest } from './latentsync/manifest';
export { type MusetalkManifest } from './musetalk/manifest';
export { MEL_BANDS } from './speech/log-mel';
export { SEGMENT_FRAMES, SAMPLE_RATE } from './speech/log-mel';
export {
  decodeFaceTrack,
  type FaceTrack,
  encodeFaceTrack,
  FACE_TRACK_VERSION,
  TRACK_REACH,
  FaceTrackError,
} from './face/face-track';
export { type FollowsVoice, followsVoice, mouthOpenings, FEWEST_MOUTHS } from './sync';
export { recordingOf, type Recording, recordingFrom } from './speech/log-mel';
export { speechEnvelope } from './sync';
export { faceBox } from './musetalk/faces';
export { highsyncFaces } from './highsync/faces';
export {
  LANDMARK_VALUES,
  MOUTH,
  landmark,
  landmarkCentre,
  LANDMARK_COUNT,
  LEFT_EYE,
  RIGHT_EYE,
} from './face/landmarks';
export { buildBuiltinPacks } from './builtin-packs';
export { mouthOpening } from './sync';
export { writeLatentsyncPack } from './latentsync/pack';
export { type FeatureLayout, isWorthKeeping } from './engine';
export { type AnalyzerParams } from './analyzer/manifest';
export { buildAnalyzerPack } from './analyzer/pack';
export { type RunModel, type TakeFloats } from './model';
export { faceRuns, smoothingReach, smoothRun } from './face/smoothing';
export { musetalkBoxes } from './musetalk/faces';
export { float32Of, uint8Of, float32Tensor } from './model';
export { type Tensor, SessionError, type RunResult, type Tensors } from './model';
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
