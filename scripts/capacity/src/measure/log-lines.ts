import { readFileSync } from 'node:fs';
import path from 'node:path';

/** A wide log line: the record of one finished unit of work. */
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

/** The number of slots that a service logged at its latest start, however it was configured. */
export function slotsOf(logsDir: string, service: string): number {
  const starts = readFileSync(path.join(logsDir, `${service}.log`), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"message":"started"'));
  const { slots } = JSON.parse(starts.at(-1) ?? '{}') as Record<string, unknown>;
  if (typeof slots !== 'number') throw new Error(`${service} did not say how many slots it has`);
  return slots;
}
