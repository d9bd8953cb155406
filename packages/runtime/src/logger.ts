import pino, { type DestinationStream } from 'pino';
import { describeForLog } from './describe-for-log';

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
 * The buffer is written when it reaches this size or after the interval below, so that a busy process makes one system
 * call for many lines.
 */
const BUFFER_BYTES = 4_096;
const FLUSH_MS = 100;

/** Buffered standard output for the logger of a service. The buffer is flushed before the process exits. */
export function bufferedOutput(): DestinationStream {
  return pino.destination({ dest: 1, sync: false, minLength: BUFFER_BYTES, periodicFlush: FLUSH_MS });
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
