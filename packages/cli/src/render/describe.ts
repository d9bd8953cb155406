import type { EngineResult, PreparationRecord, RenderRecord } from '@lipsync/client';
import type { ProgressLine } from '../terminal/progress';
import type { Resource } from './resources';

/** A line for each engine of a render, or one for a preparation. */
export function progressOf(record: RenderRecord | PreparationRecord): ProgressLine[] {
  if (!('engines' in record))
    return [{ label: 'analysis', percent: record.progress_percent, detail: words(record.stage) }];
  return record.engines.map(({ engine, status, stage, progress_percent, error }) => ({
    label: engine,
    percent: progress_percent,
    // Until an engine can start, the stage of the render says what it waits for. One whose job looks for the faces
    // itself is at loading_model meanwhile.
    detail: words(
      error?.code ??
        ((status === 'accepted' || stage === 'loading_model') && record.stage !== 'rendering'
          ? record.stage
          : stage),
    ),
  }));
}

/** A resource for people: a line for each field, without the long URLs of its outputs. */
export function describe(resource: Resource): string[] {
  return Object.entries(resource).flatMap(([name, value]: [string, unknown]) => {
    if (name === 'engines') return (value as EngineResult[]).map(describeEngine);
    if (name === 'status_url') return [];
    return [field(name, isPlain(value) ? describeObject(value) : String(value))];
  });
}

function describeEngine({ engine, status, stage, progress_percent, error }: EngineResult): string {
  const doing = status === stage ? words(status) : `${words(status)}, ${words(stage)}`;
  const reason = error === undefined ? '' : `: ${error.message} (${error.code})`;
  return field(engine, `${doing}, ${Math.floor(progress_percent)} %${reason}`);
}

function describeObject(object: object): string {
  if ('code' in object && 'message' in object) return `${String(object.message)} (${String(object.code)})`;
  return Object.entries(object)
    .map(([name, value]: [string, unknown]) => `${words(name)} ${String(value)}`)
    .join(', ');
}

function field(name: string, value: string): string {
  return `${words(name).padEnd(18)} ${value}`;
}

function words(name: string): string {
  return name.replaceAll('_', ' ');
}

function isPlain(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
