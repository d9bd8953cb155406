export { writePassthroughPack } from './passthrough-pack';
export { goldenPack } from './golden-pack';
export { syntheticTrack } from './synthetic-track';
export { writeLatentsyncPack } from './latentsync-pack';
export { writeHighsyncPack } from './highsync-pack';
export { LATENT, SIDE } from './highsync-graphs';
export { writePooledMusetalkPack } from './musetalk-pack';
