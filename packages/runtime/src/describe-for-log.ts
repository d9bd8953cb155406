import { types } from 'node:util';

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
const CAUSES_MAX = 4;

/**
 * An unexpected failure for the operator: without addresses, which may be signed, without long dumps, and without the
 * other properties that libraries attach, in which a database client repeats the values of a row.
 */
export function describeForLog(thrown: unknown): DescribedError {
  if (!isError(thrown)) return { name: typeof thrown, message: clean(textOf(thrown)) };
  const causes = causesOf(thrown).map(sentenceOf);
  const cause = causes.length === 0 ? '' : ` (${causes.join('; ')})`;
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

/** From the nearest to the first of all: a client's own error may stand two or three wrappers down. */
function causesOf(error: Error): Error[] {
  const causes: Error[] = [];
  for (let at = error.cause; isError(at) && causes.length < CAUSES_MAX; at = at.cause) causes.push(at);
  return causes;
}

/** The runtime's own are of another class where tests run; a DOMException is no native one. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** Some say what happened by their name or code alone. */
function sentenceOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return [error.name === 'Error' ? '' : error.name, error.message || code].filter(Boolean).join(': ');
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
