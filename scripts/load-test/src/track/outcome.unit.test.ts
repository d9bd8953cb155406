import { ERROR_CATALOGUE } from '@lipsync/contract';
import { LIMITED, SUCCESS } from '../test/observations';
import { createAnswerTally, operationOutcome, storeOutcome, transportOutcome } from './outcome';

const refusal = (code: string, retryable: boolean) => ({ error: { code, message: 'Any.', retryable } });
const delivery = { id: 'event', status: 'pending', attempts: 0 };

describe('operationOutcome', () => {
  it('is a success only with the status and the body of the contract', () => {
    expect(operationOutcome('get_webhook', 200, delivery)).toEqual(SUCCESS);
    expect(operationOutcome('get_webhook', 201, delivery).class).toBe('out_of_contract');
    expect(operationOutcome('get_webhook', 200, { ...delivery, surplus: 1 }).class).toBe('out_of_contract');
  });

  it.each([
    [429, 'rate_limit_exceeded', true, 'limited'],
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
  ])('recognizes %s as out of contract', (_, status, body) => {
    expect(operationOutcome('get_render', status, body).class).toBe('out_of_contract');
  });
});

describe('storeOutcome', () => {
  it('distinguishes bytes that the store accepted from those that it refused', () => {
    expect(storeOutcome(204).class).toBe('success');
    expect(storeOutcome(403)).toMatchObject({ class: 'refused', retryable: false });
    expect(storeOutcome(503)).toMatchObject({ class: 'unavailable', retryable: true });
  });
});

describe('createAnswerTally', () => {
  it('counts every response, and the errors by kind, the most frequent first', () => {
    const tally = createAnswerTally();
    const lost = transportOutcome('ECONNRESET');
    for (const outcome of [SUCCESS, lost, LIMITED, LIMITED])
      tally.request({ operation: 'get_render', outcome });
    tally.request({ operation: 'create_render', outcome: lost });
    expect(tally.counts()).toEqual({
      total: 5,
      // An enforced limit is not a failure.
      failed: 2,
      errors: [
        { operation: 'get_render', outcome: LIMITED, count: 2 },
        { operation: 'get_render', outcome: lost, count: 1 },
        { operation: 'create_render', outcome: lost, count: 1 },
      ],
    });
  });
});
