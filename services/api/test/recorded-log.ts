import { Writable } from 'node:stream';
import { createLogger, type Logger } from '@lipsync/runtime';

interface RecordedLog {
  logger: Logger;
  /** Every line so far, parsed. */
  lines(): Record<string, unknown>[];
}

/** The real logger, writing to memory. */
export function recordedLog(): RecordedLog {
  let text = '';
  const destination = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      text += chunk.toString();
      done();
    },
  });
  const parse = (line: string): Record<string, unknown> => JSON.parse(line) as Record<string, unknown>;
  return {
    logger: createLogger({ service: 'api', destination }),
    lines: () => text.split('\n').filter(Boolean).map(parse),
  };
}
