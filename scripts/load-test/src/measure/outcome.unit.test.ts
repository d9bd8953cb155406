import { ERROR_CATALOGUE } from '@lipsync/contract';
import { FAILURE_CLASSES, operationOutcome, storeOutcome, transportOutcome } from '../track/outcome';

const refusal = (code: string, retryable: boolean) => ({ error: { code, message: 'Any.', retryable } });
const delivery = { id: 'event', status: 'pending', attempts: 0 };

describe('operationOutcome', () => {
  it('is a success only with the status and the body of the contract', () => {
    expect(operationOutcome('get_webhook', 200, delivery)).toEqual({
      class: 'success',
      status: 200,
      code: null,
      retryable: null,
    });
    expect(operationOutcome('get_webhook', 201, delivery).class).toBe('out_of_contract');
    expect(operationOutcome('get_webhook', 200, { ...delivery, surplus: 1 }).class).toBe('out_of_contract');
  });

  it.each([
    [429, 'rate_limit_exceeded', true, 'limited'],
    [429, 'concurrency_limit_exceeded', true, 'limited'],
    [409, 'asset_not_ready', true, 'refused'],
    [404, 'render_not_found', false, 'refused'],
    [503, 'service_unavailable', true, 'unavailable'],
  ] as const)('classifies %i %s (retryable: %s) as %s', (status, code, retryable, expected) => {
    expect(ERROR_CATALOGUE[code]).toMatchObject({ httpStatus: status, retryable });
    expect(operationOutcome('get_render', status, refusal(code, retryable))).toEqual({
      class: expected,
      status,
      code,
      retryable,
    });
  });

  it('counts a provoked refusal as correct', () => {
    const body = refusal('render_not_cancellable', false);
    expect(operationOutcome('cancel_render', 409, body, ['render_not_cancellable']).class).toBe('expected');
    expect(operationOutcome('cancel_render', 409, body).class).toBe('refused');
  });

  it.each([
    ['a page of a proxy', 502, undefined],
    ['an error of another form', 503, { message: 'down' }],
    ['a redirect', 302, undefined],
  ])('recognises %s as out of contract', (_, status, body) => {
    expect(operationOutcome('get_render', status, body).class).toBe('out_of_contract');
  });
});

describe('other outcomes', () => {
  it('distinguish bytes that the store accepted from those that it refused', () => {
    expect(storeOutcome(204).class).toBe('success');
    expect(storeOutcome(403)).toMatchObject({ class: 'refused', retryable: false });
    expect(storeOutcome(503)).toMatchObject({ class: 'unavailable', retryable: true });
  });

  it('count a request without a response as repeatable', () => {
    expect(transportOutcome('ECONNRESET')).toEqual({
      class: 'transport',
      status: null,
      code: 'ECONNRESET',
      retryable: true,
    });
  });

  it('count everything as a failure except success, provoked refusals and limits', () => {
    expect([...FAILURE_CLASSES].sort()).toEqual(['out_of_contract', 'refused', 'transport', 'unavailable']);
  });
});
