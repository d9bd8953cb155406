/** What became of one step; its figures stand beside these fields. */
export interface StepResult extends Readonly<Record<string, unknown>> {
  readonly step: string;
  readonly outcome: 'ok' | 'failed' | 'skipped';
  readonly seconds: number;
  /** Why, unless it is ok. */
  readonly reason?: string;
}

/** Thrown by a step that cannot be done here, which is no failure. */
export class Skipped extends Error {
  override readonly name = 'Skipped';
}

/** What a step is given. */
export interface StepTools {
  /** Keeps figures of a step that may fail later, or not be done in time. */
  readonly found: (figures: object) => void;
  /** Aborted when the step has had its time: whatever it started has to end. */
  readonly signal: AbortSignal;
  /** Seconds that the step still has. */
  readonly secondsLeft: () => number;
}

export type Checklist = ReturnType<typeof createChecklist>;

/**
 * Steps that are done one after the other, whatever became of those before, none for longer than `limitSeconds`. `tell`
 * is called with the result of each as soon as there is one.
 */
export function createChecklist(tell: (result: StepResult) => void, limitSeconds = Infinity) {
  const steps: StepResult[] = [];

  /** Resolves to what the step returned, or undefined if it failed or was skipped. */
  const step = async <Figures extends object>(
    name: string,
    work: (tools: StepTools) => Figures | Promise<Figures>,
  ): Promise<Figures | undefined> => {
    const started = performance.now();
    const secondsSince = (): number => (performance.now() - started) / 1000;
    const kept: object[] = [];
    const ended = (outcome: StepResult['outcome'], ...figures: object[]): void => {
      const seconds = Number(secondsSince().toFixed(3));
      const result = Object.assign({ step: name, outcome, seconds }, ...kept, ...figures) as StepResult;
      steps.push(result);
      tell(result);
    };
    const limit = new AbortController();
    const outOfTime = new Promise<never>((_, reject) => {
      limit.signal.onabort = () => reject(new Error(`not done after ${limitSeconds} s`));
    });
    const timer = Number.isFinite(limitSeconds)
      ? setTimeout(() => limit.abort(), limitSeconds * 1000)
      : undefined;
    try {
      const tools: StepTools = {
        found: (figures) => void kept.push(figures),
        signal: limit.signal,
        secondsLeft: () => limitSeconds - secondsSince(),
      };
      const figures = await Promise.race([work(tools), outOfTime]);
      ended('ok', figures);
      return figures;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      ended(error instanceof Skipped ? 'skipped' : 'failed', { reason });
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  };
  return { step, steps: steps as readonly StepResult[] };
}
