export { aimAxis } from './axis';
export { toRgb } from './colour';
export { pasteFace } from './paste';
export { resamplePlane } from './resample';
