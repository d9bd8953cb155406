export { syntheticTrack } from './clips';
export { faceFindingNetwork } from './dwpose-network';
export { goldenPack, goldenPacks } from './golden';
export { LATENT, SIDE, writeHighsyncPack } from './highsync-pack';
export { writeLatentsyncPack } from './latentsync-pack';
export { writePooledMusetalkPack } from './musetalk-pack';
export { writePassthroughPack } from './passthrough-pack';
