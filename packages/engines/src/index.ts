export { writeDwposePack } from './analyzer/dwpose-pack';
export { type AnalyzerManifest, type AnalyzerParams } from './analyzer/manifest';
export { buildAnalyzerPack } from './analyzer/pack';
export {
  type EngineClip,
  type FaceBatch,
  type FaceEncoder,
  type FeatureLayout,
  type FrameFeatures,
  type FrameStream,
  type GeneratedFaces,
  isWorthKeeping,
  type LipSyncEngine,
  noFeatures,
} from './engine';
export {
  decodeFaceTrack,
  encodeFaceTrack,
  FACE_TRACK_VERSION,
  type FaceTrack,
  FaceTrackError,
  TRACK_REACH,
} from './face/face-track';
export {
  landmark,
  LANDMARK_COUNT,
  LANDMARK_VALUES,
  landmarkCenter,
  LEFT_EYE,
  MOUTH,
  RIGHT_EYE,
} from './face/landmarks';
export { groupLooks, LOOK_VALUES, lookColors, type Looks } from './face/looks';
export {
  createCutMouth,
  EXEMPLAR_BYTES,
  EXEMPLAR_SIDE,
  EXEMPLARS,
  type MouthExemplars,
  NO_MOUTHS,
} from './face/mouth-exemplars';
export { chooseMouths, proposeMouths } from './face/mouth-ladder';
export { faceRuns, smoothingReach, smoothRun } from './face/smoothing';
export { highsyncFaceBox, highsyncFaces } from './highsync/faces';
export { type HighsyncManifest } from './highsync/manifest';

export { alignedFaces } from './latentsync/faces';
export { writeLatentsyncPack } from './latentsync/pack';
export {
  float32Of,
  float32Tensor,
  type RunModel,
  type RunResult,
  SessionError,
  type TakeFloats,
  type Tensor,
  type Tensors,
  uint8Of,
} from './model';
export { faceBox, musetalkBoxes } from './musetalk/faces';

export {
  copyPack,
  type Manifest,
  openPack,
  openPackFor,
  type Pack,
  type PackEngine,
  parseManifest,
  publishPack,
  readPack,
  readPackAgain,
} from './packs';
export { buildBuiltinPacks, openEngine } from './registry';
export { type Recording, recordingFrom, recordingOf, SAMPLE_RATE } from './speech/log-mel';

export {
  FEWEST_MOUTHS,
  type FollowsVoice,
  followsVoice,
  mouthOpening,
  mouthOpenings,
  speechEnvelope,
} from './sync';
