export { sampleSquare } from './aligned-crop';
export { pasteAligned } from './aligned-paste';
export { aimAxis, hideOutput } from './axis';
export { blurSquare } from './blur';
export { colorsToFixed, scale, toFixed, toRgb, toYuv } from './color';
export { pasteColors, pasteFace } from './paste';
export { samplePatch } from './patch';
export { resamplePlane } from './resample';
export { toSdr } from './tone';
