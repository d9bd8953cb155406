export { writePassthroughPack } from './passthrough-pack';
export { goldenPack } from './golden';
export { syntheticTrack } from './clips';
export { writeLatentsyncPack } from './latentsync-pack';
export { writeHighsyncPack } from './highsync-pack';
export { LATENT, SIDE } from './highsync-pack';
export { writePooledMusetalkPack } from './musetalk-pack';
