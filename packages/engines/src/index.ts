export {
  type AnalyzerManifest,
  type AnalyzerParams,
  HAND_PATCH_SIDE,
  landmarksRole,
  PALM_PICTURE_SIDE,
} from './analyzer/manifest';
export { cumulativeAlphas, type ScheduleParams } from './diffusion/ddim';
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
export { EXEMPLAR_DIMS } from './exemplar-inputs';
export {
  type Cover,
  COVER_SIDE,
  coverOf,
  type Covers,
  coversMouth,
  coverTransform,
  grownCover,
  isCovered,
} from './face/cover';
export {
  decodeFaceTrack,
  encodeFaceTrack,
  FACE_TRACK_VERSION,
  type FaceTrack,
  FaceTrackError,
  landmarksAt,
  TRACK_REACH,
} from './face/face-track';
export {
  landmark,
  LANDMARK_COUNT,
  LANDMARK_VALUES,
  landmarkCenter,
  LEFT_EYE,
  MOUTH,
  NOSE_TIP,
  RIGHT_EYE,
} from './face/landmarks';
export { groupLooks, type LookColors, lookColors } from './face/looks';
export {
  createCutMouth,
  EXEMPLAR_BYTES,
  EXEMPLAR_SIDE,
  EXEMPLARS,
  type MouthExemplars,
  NO_MOUTHS,
} from './face/mouth-exemplars';
export { chooseMouths, proposeMouths } from './face/mouth-ladder';
export { connectedRuns, faceRuns, type Run, smoothingReach, smoothRun } from './face/smoothing';
export { highsyncFaceBox, highsyncFaces } from './highsync/faces';
export { type HighsyncManifest, type HighsyncParams } from './highsync/manifest';
export { alternation } from './in-between';
export { allEnded } from './in-order';
export { alignedFaces } from './latentsync/faces';
export { type LatentsyncParams } from './latentsync/manifest';
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
  writePack,
} from './packs';
export { openEngine } from './registry';
export { type Cues, CUES, CUES_PER_SECOND, hear } from './speech/hearing';
export {
  MEL_BANDS,
  type Recording,
  recordingFrom,
  recordingOf,
  SAMPLE_RATE,
  SEGMENT_FRAMES,
} from './speech/log-mel';
export { type Stretch, VOICE_CONTEXT, VOICE_STATE, VOICE_STEP, voiceActivity } from './speech/voice-activity';
export { voiceOnly } from './speech/voice-only';
export { positionalEncoding, WINDOW_STEPS } from './speech/windows';
export {
  FEWEST_MOUTHS,
  type FollowsVoice,
  followsVoice,
  mouthOpening,
  mouthOpenings,
  shownFrames,
  speechEnvelope,
  stepsIn,
} from './sync';
