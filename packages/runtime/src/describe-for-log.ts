/** What a log line says about an error. */
export interface DescribedError {
  readonly name: string;
  readonly message: string;
  /** Of errors that have one, such as `ECONNREFUSED` or `P2002`. */
  readonly code?: string;
  readonly reason?: string;
  /** The end of what a child process wrote before it died. */
  readonly stderr?: string;
  readonly stack?: string;
}

const MESSAGE_MAX_CHARACTERS = 500;
const STDERR_MAX_CHARACTERS = 4_000;

/**
 * An unexpected failure for the operator: without addresses, which may be signed, without long dumps, and without the
 * other properties that libraries attach, in which a database client repeats the values of a row.
 */
export function describeForLog(thrown: unknown): DescribedError {
  if (!(thrown instanceof Error)) return { name: typeof thrown, message: clean(textOf(thrown)) };
  const cause = thrown.cause instanceof Error ? ` (${thrown.cause.message})` : '';
  const frames = framesOf(thrown);
  return {
    name: thrown.name,
    message: clean(`${thrown.message}${cause}`),
    ...('code' in thrown && typeof thrown.code === 'string' ? { code: clean(thrown.code) } : {}),
    ...('reason' in thrown && typeof thrown.reason === 'string' ? { reason: clean(thrown.reason) } : {}),
    ...('stderr' in thrown && typeof thrown.stderr === 'string' ? { stderr: endOf(thrown.stderr) } : {}),
    ...(frames === '' ? {} : { stack: frames }),
  };
}

/** Objects that are no errors are not shown: nobody knows what is in them. */
function textOf(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null ? 'not an error' : String(thrown);
}

/** The stack without the message that it begins with, which is as long as it likes. */
function framesOf({ stack = '' }: Error): string {
  return stack
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
    .map(withoutAddresses)
    .join('\n');
}

function clean(message: string): string {
  return withoutAddresses(message).slice(0, MESSAGE_MAX_CHARACTERS);
}

function endOf(output: string): string {
  return withoutAddresses(output).slice(-STDERR_MAX_CHARACTERS);
}

function withoutAddresses(text: string): string {
  return text.replaceAll(/\b[a-z][a-z0-9+.-]*:\/\/\S+/gi, '<address>');
}
