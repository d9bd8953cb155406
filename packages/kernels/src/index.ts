export { type AlignedCrop, createAlignedCrop } from './aligned-crop';
export { createAlignedPaste } from './aligned-paste';
export { createCropFace } from './crop-face';
export {
  type BlendMask,
  blurLines,
  createMaskSoftener,
  gaussianKernel,
  HALF_MASK_VALUES,
  INVISIBLE,
  MASK_SIZE,
  MASK_SQUARE,
} from './mask';
export { createPasteFace, type PasteFace } from './paste-face';
export { createPatchSampler, type Patch, patchPoint, type RgbPicture } from './patch-sampler';
export {
  type Affine,
  type Box,
  invertAffine,
  type PictureFormat,
  pictureLayout,
  type Point,
} from './picture';
export { BILINEAR, LANCZOS } from './resampling';
export { createToSdr } from './sdr-colors';
