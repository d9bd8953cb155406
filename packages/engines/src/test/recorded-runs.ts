import { type RunModel } from '../run-model';
import { type Tensors } from '../tensor';

export interface RecordedRun {
  readonly role: string;
  /** Copies, because the fed buffers themselves are transferred. */
  readonly feeds: Tensors;
}

/** Records every run of a model with its feeds. `before` may fail or delay a run. */
export function recordRuns(
  run: RunModel,
  before: (role: string, earlier: number) => Promise<void> = async () => undefined,
): { run: RunModel; runs: RecordedRun[]; count: (role: string) => number } {
  const runs: RecordedRun[] = [];
  const count = (role: string): number => runs.filter((recorded) => recorded.role === role).length;
  return {
    runs,
    count,
    run: async (role, feeds) => {
      await before(role, count(role));
      runs.push({ role, feeds: structuredClone(feeds) });
      return run(role, feeds);
    },
  };
}
