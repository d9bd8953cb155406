import {
  validate,
  type AssetRequest,
  type PreparationRequest,
  type RenderRequest,
  type UploadRequest,
} from '@lipsync/contract';
import { ServiceError } from '@lipsync/domain';

interface RequestBodies {
  RenderRequest: RenderRequest;
  PreparationRequest: PreparationRequest;
  UploadRequest: UploadRequest;
  AssetRequest: AssetRequest;
}

/**
 * The body as the contract types it.
 *
 * @throws ServiceError with the code of the first violation, naming its place and reason
 */
export function requireBody<Name extends keyof RequestBodies>(
  name: Name,
  body: unknown,
): RequestBodies[Name] {
  if (conforms(name, body)) return body;
  const violation = validate(name, body);
  if (violation.ok) throw new Error(`${name} is valid and invalid`);
  if (violation.code !== 'invalid_request') throw new ServiceError(violation.code);
  throw new ServiceError('invalid_request', {
    detail: `${violation.path || 'The body'} ${violation.reason}.`,
  });
}

function conforms<Name extends keyof RequestBodies>(name: Name, body: unknown): body is RequestBodies[Name] {
  return validate(name, body).ok;
}
