export { syntheticTrack, upTo } from './clips';
export { restoreOutside } from '../highsync/mask';
export { logMel, melSlice, segmentLogMel } from '../speech/log-mel';
export { goldenPack, goldenPacks } from './golden';
export { LATENT, SIDE, writeHighsyncPack } from './highsync-pack';
export { writeLatentsyncPack } from './latentsync-pack';
export { writePooledMusetalkPack } from './musetalk-pack';
export { type FaceShape, LARGE_FACE, paintedLandmarks, turnedAbout } from './painted-landmarks';
export { writePassthroughPack } from './passthrough-pack';
