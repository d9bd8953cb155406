import { type AnalyzerParams, type RunModel } from '@lipsync/engines';

/** A face analyser whose graphs are loaded. */
export interface LoadedAnalyzer {
  readonly params: AnalyzerParams;
  /** Recorded in every track that the analyser makes. */
  readonly version: string;
  readonly run: RunModel;
}
