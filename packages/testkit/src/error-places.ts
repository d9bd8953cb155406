import { strict as assert } from 'node:assert';
import { conforms, ERROR_CATALOGUE, type ErrorPlace, isErrorCode, type SchemaName } from '@lipsync/contract';

interface CarriedError {
  place: ErrorPlace;
  code: string;
}

/** Checks that the errors of a resource and its parts are in the catalogue, for that place. */
export function assertErrorPlaces(schema: SchemaName, body: unknown): void {
  for (const { place, code } of carriedErrors(schema, body)) {
    assert.ok(isErrorCode(code), `${code} is not in the catalogue`);
    assert.ok(ERROR_CATALOGUE[code].where.includes(place), `${code} is not declared for a failed ${place}`);
  }
}

function carriedErrors(schema: SchemaName, body: unknown): CarriedError[] {
  const at = (place: ErrorPlace, error: { code: string } | undefined): CarriedError[] =>
    error === undefined ? [] : [{ place, code: error.code }];
  if (schema === 'Asset' && conforms('Asset', body)) return at('asset', body.error);
  if (schema !== 'Record' || !conforms('Record', body)) return [];
  return [...at('record', body.error), ...(body.engines ?? []).flatMap(({ error }) => at('engine', error))];
}
