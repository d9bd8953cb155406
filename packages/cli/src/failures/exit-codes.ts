/** How a command ended, for scripts. README.md documents each; a number never changes its meaning. */
export const EXIT_CODES = {
  ok: 0,
  /** Everything without a number of its own: a refused request, a file that cannot be written. */
  failed: 1,
  /** The command line was wrong. Nothing was sent. */
  usage: 2,
  /** There is no API key, or the service does not accept it. */
  unauthorized: 3,
  /** The render, preparation or media ended as failed or cancelled. */
  unsuccessful: 4,
  /** The render completed, but not with every engine. */
  partial: 5,
  /** Unavailable, over a limit, or not done in time: the same command can succeed later. */
  later: 6,
  /** 128 + SIGINT, as shells count. */
  interrupted: 130,
  /** 128 + SIGTERM. */
  terminated: 143,
} as const;

export type Outcome = keyof typeof EXIT_CODES;

/** A failure in plain words: what happened, and what the user can do. */
export class CommandError extends Error {
  override readonly name = 'CommandError';

  constructor(
    message: string,
    readonly outcome: Outcome,
    readonly advice?: string,
  ) {
    super(message);
  }
}
