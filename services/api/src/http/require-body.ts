import { conforms, ERROR_CATALOGUE, type SchemaName, type Schemas, validate } from '@lipsync/contract';
import { ServiceError } from '@lipsync/domain';

/**
 * The body, typed as the contract defines it.
 *
 * @throws ServiceError with the code of the first violation, naming its location and reason
 */
export function requireBody<Name extends SchemaName>(name: Name, body: unknown): Schemas[Name] {
  if (conforms(name, body)) return body;
  const violation = validate(name, body);
  if (violation.ok) throw new Error(`${name} is valid and invalid`);
  const place = `${violation.path || 'The body'} ${violation.reason}.`;
  // Codes other than invalid_request have a catalogue message that says what would be accepted.
  const advice = violation.code === 'invalid_request' ? '' : ` ${ERROR_CATALOGUE[violation.code].message}`;
  throw new ServiceError(violation.code, { detail: `${place}${advice}` });
}
