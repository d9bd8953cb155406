export type { SyncMeasurement } from './measure-sync';
export { type Clip, type ClipShape, makeClip } from './sample-clip';
export { isolatePack, servingAnalyzer } from './try-pack';
