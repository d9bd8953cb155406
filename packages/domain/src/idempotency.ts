import { createHash } from 'node:crypto';
import { type OperationId } from '@lipsync/contract';

const KEY_PROPERTY = 'idempotency_key';

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, entry]) => [key, canonical(entry)]));
}

/**
 * Identifies the payload of a create request. Equal JSON gives equal fingerprints, whatever the order of its properties
 * and whether the idempotency key came in the header or in the body. Different operations give different fingerprints.
 * @returns SHA-256 in hex
 */
export function fingerprint(operationId: OperationId, body: object): string {
  const payload = Object.entries(body).filter(([key]) => key !== KEY_PROPERTY);
  const text = JSON.stringify([operationId, canonical(Object.fromEntries(payload))]);
  return createHash('sha256').update(text).digest('hex');
}
