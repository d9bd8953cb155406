export { checkPack } from './host/check-pack';
export { openPackFolders, type PackFolder } from './host/find-packs';
export { filledTensor } from './inference/packs/check-graph';
export { loadPack } from './inference/packs/load-pack';
export { createSessionHost } from './inference/sessions/session-host';
export { type RenderResult, type StageTimings } from './protocol/messages';
export { type Inference, startInference } from './start-inference';
