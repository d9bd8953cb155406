import { type FailureCode } from '../protocol/messages';

/** The child refused or failed a task. The same child or a replacement is ready for the next one. */
export class InferenceFailure extends Error {
  override readonly name = 'InferenceFailure';
  constructor(
    readonly code: FailureCode,
    readonly detail: string,
  ) {
    super(`${code}: ${detail}`);
  }
}

/**
 * The child ended during a task. `stderr` is the end of what it wrote, for the log only. `hung`: the child was
 * killed because it gave no sign of life.
 */
export class InferenceCrash extends Error {
  override readonly name = 'InferenceCrash';
  readonly hung: boolean;
  constructor(
    readonly exit: { readonly code: number | null; readonly signal: NodeJS.Signals | null },
    readonly stderr: string,
    { hung = false }: { readonly hung?: boolean } = {},
  ) {
    const how = hung
      ? 'hung and was killed'
      : `ended with ${exit.signal ?? `code ${exit.code ?? 'unknown'}`}`;
    super(`the inference process ${how}`);
    this.hung = hung;
  }
}
