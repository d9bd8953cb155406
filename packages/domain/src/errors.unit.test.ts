import { ERROR_CATALOGUE, isErrorCode, validate } from '@lipsync/contract';
import { errorResponse, isServiceError, ServiceError } from './errors';

describe('ServiceError', () => {
  it('answers every code of the catalogue with a body of the contract', () => {
    for (const code of Object.keys(ERROR_CATALOGUE).filter(isErrorCode)) {
      const body = errorResponse(new ServiceError(code));
      expect(validate('ErrorResponse', body)).toEqual({ ok: true });
      const { message, retryable } = ERROR_CATALOGUE[code];
      expect(body.error).toEqual({ code, message, retryable });
    }
  });

  it('shows the detail instead of the catalogue message, and never the cause', () => {
    const error = new ServiceError('invalid_request', {
      detail: '/engines is required',
      cause: new Error('secret'),
    });
    expect(errorResponse(error)).toEqual({
      error: { code: 'invalid_request', message: '/engines is required', retryable: false },
    });
    expect(error.cause).toEqual(new Error('secret'));
  });

  it('is recognized across two copies of this module', () => {
    jest.isolateModules(() => {
      const other = jest.requireActual<{ ServiceError: typeof ServiceError }>('./errors');
      const error: unknown = new other.ServiceError('not_found');
      expect(error instanceof ServiceError).toBe(false);
      expect(isServiceError(error)).toBe(true);
    });
  });
});
