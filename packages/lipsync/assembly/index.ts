export { sampleSquare } from './aligned-crop';
export { pasteAligned } from './aligned-paste';
export { aimAxis } from './axis';
export { toRgb } from './colour';
export { pasteFace } from './paste';
export { resamplePlane } from './resample';
