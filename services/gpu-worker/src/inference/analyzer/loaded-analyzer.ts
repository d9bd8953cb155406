import { type AnalyzerParams } from '@lipsync/model-pack';
import { type RunModel } from '../packs/run-model';

/** A face analyser whose graphs are loaded. */
export interface LoadedAnalyzer {
  readonly params: AnalyzerParams;
  /** Recorded in every track that the analyser makes. */
  readonly version: string;
  readonly run: RunModel;
}
