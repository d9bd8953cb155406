export { createCropFace } from './crop-face';
export { createPasteFace } from './paste-face';
