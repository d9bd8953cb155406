export { checkPack } from './host/check-pack';
export { type TaskOptions } from './host/inference-host';
export { InferenceCrash, InferenceFailure } from './host/inference-error';
export { openPackFolders, type BadFolder, type PackFolder } from './host/find-packs';
export {
  type AnalyzeResult,
  type FailureCode,
  type InferenceStage,
  type PackReport,
  type RenderResult,
  type StageTimings,
} from './protocol/messages';
export { type Inference, type RenderFiles, startInference } from './start-inference';
