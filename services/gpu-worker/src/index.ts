export { checkPack } from './host/check-pack';
export { openPackFolders, type PackFolder } from './host/find-packs';
export { type Card, mebibytes, NVIDIA_SMI, queryCards, readCards } from './host/graphics-card';
export { type RenderResult, type StageTimings } from './protocol/messages';
export { type Inference, startInference } from './start-inference';
