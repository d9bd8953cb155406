import { conforms, type SchemaName, type Schemas, validate } from '@lipsync/contract';
import { ServiceError } from '@lipsync/domain';

/**
 * The body as the contract types it.
 *
 * @throws ServiceError with the code of the first violation, naming its place and reason
 */
export function requireBody<Name extends SchemaName>(name: Name, body: unknown): Schemas[Name] {
  if (conforms(name, body)) return body;
  const violation = validate(name, body);
  if (violation.ok) throw new Error(`${name} is valid and invalid`);
  if (violation.code !== 'invalid_request') throw new ServiceError(violation.code);
  throw new ServiceError('invalid_request', {
    detail: `${violation.path || 'The body'} ${violation.reason}.`,
  });
}
