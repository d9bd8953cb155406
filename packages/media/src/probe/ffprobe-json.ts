import { type Rational } from './stream-info';

/** Readers for the untyped JSON of ffprobe: a value that is missing or of another type is undefined, never a guess. */
export function fields(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== 'unknown' && value !== 'N/A'
    ? value
    : undefined;
}

export function finite(value: unknown): number | undefined {
  const parsed = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof parsed === 'number' && Number.isFinite(parsed) ? parsed : undefined;
}

/** "30000/1001" or "4:3"; undefined when either part is not a positive integer. */
export function rational(value: unknown): Rational | undefined {
  const match = /^(\d+)[/:](\d+)$/.exec(text(value) ?? '');
  const num = Number(match?.[1]);
  const den = Number(match?.[2]);
  return num > 0 && den > 0 ? { num, den } : undefined;
}
