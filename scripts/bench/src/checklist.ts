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

export type Checklist = ReturnType<typeof createChecklist>;

/** Steps that are done one after the other, whatever became of those before; `tell` gets a line for each. */
export function createChecklist(tell: (line: string) => void) {
  const steps: StepResult[] = [];

  /** Resolves to what the step found, or undefined if it failed or was skipped. */
  const step = async <Figures extends object>(
    name: string,
    work: () => Figures | Promise<Figures>,
  ): Promise<Figures | undefined> => {
    const started = performance.now();
    const ended = (outcome: StepResult['outcome'], found: object): void => {
      const seconds = Math.round(performance.now() - started) / 1000;
      steps.push({ step: name, outcome, seconds, ...found });
      const reason = 'reason' in found ? `: ${String(found.reason)}` : '';
      tell(`${outcome.padEnd(7)} ${seconds.toFixed(1).padStart(7)} s  ${name}${reason}`);
    };
    try {
      const figures = await work();
      ended('ok', figures);
      return figures;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      ended(error instanceof Skipped ? 'skipped' : 'failed', { reason });
      return undefined;
    }
  };
  return { step, steps: steps as readonly StepResult[] };
}
