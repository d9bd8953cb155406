export {
  createMaskSoftener,
  HALF_MASK_VALUES,
  MASK_SIZE,
  type BlendMask,
  type SoftenMask,
} from './paste/blend-mask';
export { outlineMask } from './paste/outline-mask';
export { type Box } from './picture/box';
export { connectedRuns, cutRuns, type Run } from './face/connected-runs';
export { contextPasses, type ContextPass, type WindowShape } from './diffusion/context-windows';
export { createCropFace, type CropFace } from './crop/crop-face';
export { createDdim, guide, type Ddim } from './diffusion/ddim';
export { cumulativeAlphas, type NoiseSchedule } from './diffusion/ddim-schedule';
export {
  logMel,
  melSlice,
  SAMPLE_RATE,
  SEGMENT_FRAMES,
  SEGMENT_SAMPLES,
  segmentLogMel,
} from './audio/log-mel';
export { maskLowerHalf } from './crop/lower-half-mask';
export { MEL_BANDS, melEdges } from './audio/mel-filters';
export { patchPoint, type Patch, type RgbPicture } from './crop/patch';
export { createPatchSampler, type SamplePatch } from './crop/patch-sampler';
export { BILINEAR, type Interpolation } from './picture/interpolation';
export { createPasteFace, type PasteFace } from './paste/paste-face';
export { yuvToRgb } from './picture/colour-conversion';
export {
  pictureLayout,
  type ColourMatrix,
  type ColourRange,
  type PictureFormat,
} from './picture/picture-format';
export { positionalEncoding } from './audio/positional-encoding';
export { faceBox, type FaceBoxPlacement } from './face/face-box';
export {
  decodeFaceTrack,
  encodeFaceTrack,
  FACE_TRACK_VERSION,
  FaceTrackError,
  TRACK_REACH,
  type FaceTrack,
} from './face/face-track';
export {
  distance,
  landmark,
  LANDMARK_COUNT,
  LANDMARK_VALUES,
  landmarkCentre,
  LEFT_EYE,
  MOUTH,
  RIGHT_EYE,
} from './face/landmarks68';
export { type Point } from './picture/box';
export { FEWEST_MOUTHS, followsVoice, mouthOpenings, type FollowsVoice } from './sync/follows-voice';
export { mouthOpening } from './sync/mouth-opening';
export { SMALLEST_FACE } from './face/smallest-face';
export { highsyncFaces, type HighsyncFaces } from './face/highsync-faces';
export { highsyncRuns } from './face/highsync-runs';
export { musetalkBoxes } from './face/musetalk-boxes';
export { createParsedMask, type ParsedMask } from './paste/parsed-mask';
export { createCropForParsing, PARSING_SIDE, type CropForParsing } from './paste/parsing-square';
export {
  RECTANGLE_FEATHER,
  rectangleBlendMask,
  restoreOutside,
  type LatentRectangle,
  type LatentShape,
} from './paste/rectangle-mask';
export { type Recording, recordingFrom, recordingOf } from './audio/recording';
export { speechEnvelope } from './audio/speech-envelope';
export { fillNoise } from './diffusion/noise';
export { faceRuns, smoothingReach, smoothRun } from './face/smoothing';
export {
  soundingSteps,
  windowRange,
  windowStep,
  WINDOW_STEPS,
  type WindowEdges,
} from './audio/whisper-window';
export { alignedFaces, enlargementAt, transformAt } from './face/aligned-faces';
export { createAlignedCrop, type AlignedCrop } from './crop/aligned-crop';
export { createAlignedPaste, type AlignedPaste } from './paste/aligned-paste';
export { type Affine } from './picture/affine';
export { inpaintMask, latentKeepMask, type MaskSpans } from './paste/inpaint-mask';
export { softMask } from './paste/soft-mask';
