import { type OutputQuality, type SyncQuality } from '../../protocol/output-quality';
import { type LoadedAnalyzer } from '../analyzer/loaded-analyzer';
import { isGraphFailure } from '../pipeline/task-failure';
import { type FaceObserver } from './face-observer';
import { type QualityProbe } from './quality-probe';

/** Measures an output. A failure to measure is reported in the result, and costs measurements instead of the render. */
export interface UnfailingProbe extends FaceObserver {
  /** Computes the result; never rejects, not even when the analyser cannot be loaded. */
  judge(loadAnalyzer: () => Promise<LoadedAnalyzer>): Promise<OutputQuality>;
  /** Whether a graph failed at it. */
  graphFailed(): boolean;
}

const UNMEASURED: SyncQuality = { syncCorrelation: null, syncLagFrames: null };

export function createUnfailingProbe(probe: QualityProbe): UnfailingProbe {
  let problem: string | null = null;
  let graphFailed = false;
  const fail = (error: unknown): void => {
    graphFailed ||= isGraphFailure(error);
    problem ??= error instanceof Error ? error.message : String(error);
  };

  return {
    graphFailed: () => graphFailed,
    passed: probe.passed,
    taken: probe.taken,
    // After one failed observation there are no others: they would measure its half-done state.
    before(frame, outputIndex) {
      if (problem !== null) return;
      try {
        probe.before(frame, outputIndex);
      } catch (error) {
        fail(error);
      }
    },
    after(frame, outputIndex) {
      if (problem !== null) return;
      try {
        probe.after(frame, outputIndex);
      } catch (error) {
        fail(error);
      }
    },
    async judge(loadAnalyzer) {
      let sync = UNMEASURED;
      try {
        sync = await probe.sync(await loadAnalyzer());
      } catch (error) {
        fail(error);
      }
      return { ...sync, ...probe.seen(), problem };
    },
  };
}
