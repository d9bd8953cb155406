import { ApiError, persist, UnexpectedAnswer } from './api-client';

const refusal = (status: number, retryable: boolean) =>
  new ApiError(status, { code: 'any', message: 'Any.', retryable });

/** Fails with these errors in turn, and then succeeds. */
function failingWith(...failures: Error[]) {
  let calls = 0;
  return {
    calls: () => calls,
    call: async () => {
      const failure = failures[calls++];
      if (failure !== undefined) throw failure;
      return 'answer';
    },
  };
}

describe('persist', () => {
  it('continues while nobody answers, and while the API asks to try again', async () => {
    const { call, calls } = failingWith(
      new TypeError('fetch failed'),
      refusal(503, true),
      refusal(429, true),
      new DOMException('no answer in time', 'TimeoutError'),
      new UnexpectedAnswer('get_render', 502),
    );
    expect(await persist(call, { pauseMs: 0 })).toBe('answer');
    expect(calls()).toBe(6);
  });

  it.each([
    ['a refusal that is final', refusal(409, false)],
    ["the object store's refusal", new UnexpectedAnswer('the upload', 403)],
    ["a fault of the caller's own", new Error('no such file')],
  ])('does not repeat a call after %s', async (_, failure) => {
    const { call, calls } = failingWith(failure);
    await expect(persist(call, { pauseMs: 0 })).rejects.toBe(failure);
    expect(calls()).toBe(1);
  });

  it('gives up with the last failure when the outage lasts', async () => {
    const { call } = failingWith(...Array.from({ length: 1000 }, () => new TypeError('fetch failed')));
    await expect(persist(call, { pauseMs: 0, absenceMs: 1 })).rejects.toThrow('fetch failed');
  });
});
