export { createAlignedCrop } from './aligned-crop';
export { createAlignedPaste } from './aligned-paste';
export { createCropFace } from './crop-face';
export { createPasteFace } from './paste-face';
export { samplePatch } from './sample-patch';
