import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A wide log line: one finished unit of work. */
export interface WideLine {
  readonly atMs: number;
  readonly durationMs: number;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** The lines of one event in a service's log since `sinceMs`. */
export function wideLines(logsDir: string, service: string, event: string, sinceMs: number): WideLine[] {
  return readFileSync(path.join(logsDir, `${service}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.includes(`"event":"${event}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .map((fields) => ({
      atMs: Date.parse(String(fields['time'])),
      durationMs: Number(fields['duration_ms']),
      fields,
    }))
    .filter(({ atMs }) => atMs >= sinceMs);
}
