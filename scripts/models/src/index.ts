export type { SyncMeasurement } from './measure-sync';
export { cudaState } from './cuda/cuda';
export { checkedPack } from './packs';
export { type Clip, type ClipShape, makeClip, makeSpeech } from './sample-clip';
export { isolatePack, servingPack } from './try-pack';
