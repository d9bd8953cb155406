export {
  createMaskSoftener,
  HALF_MASK_VALUES,
  MASK_SIZE,
  outlineMask,
  type BlendMask,
  type SoftenMask,
} from './blend-mask';
export { type Box } from './box';
export { connectedRuns, cutRuns, type Run } from './connected-runs';
export { contextPasses, type ContextPass, type WindowShape } from './context-windows';
export { createCropFace, type CropFace } from './crop-face';
export { createDdim, guide, type Ddim } from './ddim';
export { cumulativeAlphas, type NoiseSchedule } from './ddim-schedule';
export { logMel, melSlice, SAMPLE_RATE, SEGMENT_FRAMES, SEGMENT_SAMPLES, segmentLogMel } from './log-mel';
export { maskLowerHalf } from './lower-half-mask';
export { MEL_BANDS, melEdges } from './mel-filters';
export { patchPoint, type Patch, type RgbPicture } from './patch';
export { createPatchSampler, type SamplePatch } from './patch-sampler';
export { BILINEAR, type Interpolation } from './interpolation';
export { createPasteFace, type PasteFace } from './paste-face';
export { yuvToRgb } from './colour-conversion';
export { pictureLayout, type ColourMatrix, type ColourRange, type PictureFormat } from './picture-format';
export { positionalEncoding } from './positional-encoding';
export { faceBox, type FaceBoxPlacement } from './face-box';
export {
  decodeFaceTrack,
  encodeFaceTrack,
  FACE_TRACK_VERSION,
  FaceTrackError,
  TRACK_REACH,
  type FaceTrack,
} from './face-track';
export {
  distance,
  landmark,
  LANDMARK_COUNT,
  LANDMARK_VALUES,
  landmarkCentre,
  LEFT_EYE,
  MOUTH,
  RIGHT_EYE,
  type Point,
} from './landmarks68';
export { FEWEST_MOUTHS, followsVoice, mouthOpenings, type FollowsVoice } from './follows-voice';
export { mouthOpening } from './mouth-opening';
export { SMALLEST_FACE } from './smallest-face';
export { highsyncFaces, type HighsyncFaces } from './highsync-faces';
export { highsyncRuns } from './highsync-runs';
export { musetalkBoxes } from './musetalk-boxes';
export { createParsedMask, type ParsedMask } from './parsed-mask';
export { createCropForParsing, PARSING_SIDE, type CropForParsing } from './parsing-square';
export {
  RECTANGLE_FEATHER,
  rectangleBlendMask,
  restoreOutside,
  type LatentRectangle,
  type LatentShape,
} from './rectangle-mask';
export { type Recording, recordingFrom, recordingOf } from './recording';
export { speechEnvelope } from './speech-envelope';
export { fillNoise } from './noise';
export { faceRuns, smoothingReach, smoothRun } from './smoothing';
export { soundingSteps, windowRange, windowStep, WINDOW_STEPS, type WindowEdges } from './whisper-window';
export { alignedFaces, enlargementAt, transformAt } from './aligned-faces';
export { createAlignedCrop, type AlignedCrop } from './aligned-crop';
export { createAlignedPaste, type AlignedPaste } from './aligned-paste';
export { type Affine } from './aligned-transform';
export { inpaintMask, latentKeepMask, type MaskSpans } from './inpaint-mask';
export { softMask } from './soft-mask';
