import { type LoadedAnalyzer } from '../analyzer/loaded-analyzer';
import { type FaceObserver } from './face-observer';
import { type OutputQuality, type SyncQuality } from '../../protocol/output-quality';
import { type QualityProbe } from './quality-probe';

/** Measures an output; what goes wrong with that is told in the result, and costs measures instead of the render. */
export interface UnfailingProbe extends FaceObserver {
  /** Sums up; never rejects, also not when the analyser cannot be loaded. */
  judge(loadAnalyzer: () => Promise<LoadedAnalyzer>): Promise<OutputQuality>;
}

const UNMEASURED: SyncQuality = { syncCorrelation: null, syncLagFrames: null };

export function createUnfailingProbe(probe: QualityProbe): UnfailingProbe {
  let problem: string | null = null;
  const fail = (error: unknown): void => {
    problem ??= error instanceof Error ? error.message : String(error);
  };

  return {
    passed: probe.passed,
    taken: probe.taken,
    // Once a look has failed there is no other one: what it left half done would be measured.
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
