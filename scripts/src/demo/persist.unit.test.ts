import { ApiError } from './api-client';
import { persist } from './persist';

const refusal = (status: number, retryable: boolean) =>
  new ApiError(status, { code: 'any', message: 'Any.', retryable });

/** Fails with these, one after the other, and then answers. */
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
  it('goes on while nobody answers, and while the API asks to try again', async () => {
    const { call, calls } = failingWith(
      new TypeError('fetch failed'),
      refusal(503, true),
      refusal(429, true),
    );
    expect(await persist(call, { pauseMs: 0 })).toBe('answer');
    expect(calls()).toBe(4);
  });

  it('does not repeat what would be refused again', async () => {
    const { call, calls } = failingWith(refusal(409, false));
    await expect(persist(call, { pauseMs: 0 })).rejects.toMatchObject({ status: 409 });
    expect(calls()).toBe(1);
  });

  it('gives up with the last failure when the absence lasts', async () => {
    const { call } = failingWith(...Array.from({ length: 1000 }, () => new TypeError('fetch failed')));
    await expect(persist(call, { pauseMs: 0, absenceMs: 1 })).rejects.toThrow('fetch failed');
  });
});
