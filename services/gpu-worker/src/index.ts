export { type TaskOptions } from './host/inference-host';
export { InferenceCrash, InferenceFailure } from './host/inference-error';
export {
  type AnalyzeResult,
  type FailureCode,
  type InferenceStage,
  type RenderResult,
  type StageTimings,
} from './inference/protocol';
export { type Inference, type RenderFiles, startInference } from './start-inference';
