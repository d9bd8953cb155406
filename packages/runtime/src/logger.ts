import { types } from 'node:util';
import pino from 'pino';
import { type DestinationStream } from 'pino';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'silent';
export type LogFields = Readonly<Record<string, unknown>>;

/** Structured JSON lines. Fields never hold request bodies, keys, signed URLs or secrets. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /**
   * Writes the one line of a finished unit of work (a request, a job, an attempt) with all that is known about it: at
   * level info, or at error if it is the only report of a failure.
   */
  wide(event: string, fields: LogFields, level?: 'info' | 'error'): void;
  child(fields: LogFields): Logger;
}

/** Fields that are dropped wherever a careless caller puts them, one level deep. */
const FORBIDDEN = ['authorization', 'api_key', 'secret', 'password', 'signature', 'body'];

/**
 * The buffer is written when it reaches this size, or this long after its first line, so that a busy process makes one
 * system call for many lines. Pino's own `periodicFlush` would wake up an idle process as well, ten times a second.
 */
const BUFFER_BYTES = 4_096;
const FLUSH_MS = 100;

/** Buffered standard output for the logger of a service. The buffer is flushed before the process exits. */
export function bufferedOutput(): DestinationStream {
  const output = pino.destination({ dest: 1, sync: false, minLength: BUFFER_BYTES });
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    output.flush();
  };
  return {
    write: (line) => {
      output.write(line);
      timer ??= setTimeout(flush, FLUSH_MS).unref();
    },
  };
}

/**
 * Writes to standard output unless given another destination. The value of `error` is reduced for the log to name,
 * message without URLs, code and stack; nothing else that the error carries is written.
 */
export function createLogger(options: {
  service: string;
  level?: LogLevel;
  destination?: DestinationStream;
}): Logger {
  const settings: pino.LoggerOptions = {
    level: options.level ?? 'info',
    base: { service: options.service, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    messageKey: 'message',
    errorKey: 'error',
    serializers: { error: describeForLog },
    redact: { paths: FORBIDDEN.flatMap((name) => [name, `*.${name}`]), remove: true },
  };
  return wrap(options.destination === undefined ? pino(settings) : pino(settings, options.destination));
}

function wrap(sink: pino.Logger): Logger {
  return {
    debug: (message, fields = {}) => sink.debug(fields, message),
    info: (message, fields = {}) => sink.info(fields, message),
    warn: (message, fields = {}) => sink.warn(fields, message),
    error: (message, fields = {}) => sink.error(fields, message),
    wide: (event, fields, level = 'info') => sink[level]({ event, ...fields }, event),
    child: (fields) => wrap(sink.child(fields)),
  };
}

/** The fields of an error in a log line. */
interface DescribedError {
  readonly name: string;
  readonly message: string;
  /** For errors that have one, such as `ECONNREFUSED` or `P2002`. */
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
 * Describes an unexpected failure for the operator, without URLs, which may be signed, without long dumps, and without
 * the extra properties that libraries attach, in which a database client repeats the values of a row.
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

/** From the outermost to the root cause: a client's own error may be two or three wrappers down. */
function causesOf(error: Error): Error[] {
  const causes: Error[] = [];
  for (let at = error.cause; isError(at) && causes.length < CAUSES_MAX; at = at.cause) causes.push(at);
  return causes;
}

/** The runtime's own errors have another class in tests, and a DOMException is not a native error. */
function isError(value: unknown): value is Error {
  return value instanceof Error || types.isNativeError(value);
}

/** Some errors say what happened only in their name or code. */
function sentenceOf(error: Error): string {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return [error.name === 'Error' ? '' : error.name, error.message || code].filter(Boolean).join(': ');
}

/** Objects that are not errors are not shown, because their content is unknown. */
function textOf(thrown: unknown): string {
  return typeof thrown === 'object' && thrown !== null ? 'not an error' : String(thrown);
}

/** The stack without the message at its beginning, which may have any length. */
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

/** Looks no further ahead than a scheme is long: texts may be hostile, and without a bound the work is quadratic. */
function withoutAddresses(text: string): string {
  return text.replaceAll(/[a-z][a-z0-9+.-]{0,31}:\/\/\S+/gi, '<address>');
}
