export { isolatePack } from './isolate-pack';
export { type SyncMeasurement } from './measure/measure-sync';
export { type Clip, type ClipShape, makeClip } from './sample-clip';
export { servingAnalyzer } from './serving-analyzer';
