/** For whoever runs a pack's graphs without the worker around them, in a process of its own, as `gpu-check` does. */
export { filledTensor } from './packs/check-graph';
export { loadPack } from './packs/load-pack';
export { createSessionHost } from './sessions/session-host';
