import { createCustomerMutex, type RunExclusive } from './customer-mutex';

const WAIT_MS = 5_000;

describe('work that may have to wait for a customer’s lock', () => {
  let runExclusive: RunExclusive;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    runExclusive = createCustomerMutex(WAIT_MS);
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('runs three at once, and one per customer', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const create = (name: string): Promise<void> =>
      runExclusive(name.slice(0, 1), () => {
        begun.push(name);
        return new Promise((resolve) => ends.push(resolve));
      });
    const all = Promise.all(['a1', 'a2', 'b1', 'c1', 'd1'].map(create));
    await new Promise(setImmediate);
    expect(begun).toEqual(['a1', 'b1', 'c1']);
    for (let ended = 0; ended < 5; ended += 1) {
      ends[ended]?.();
      await new Promise(setImmediate);
    }
    expect(begun).toEqual(['a1', 'b1', 'c1', 'a2', 'd1']);
    await all;
  });

  it('is refused as service_unavailable, and never begun, if it waited too long', async () => {
    let fail: (error: Error) => void = () => undefined;
    const first = runExclusive('a', () => new Promise((_, reject) => (fail = reject)));
    const begun = jest.fn(() => Promise.resolve());
    const second = runExclusive('a', begun);
    await new Promise(setImmediate);
    jest.advanceTimersByTime(WAIT_MS);
    fail(new Error('no lock'));
    await expect(first).rejects.toThrow('no lock');
    await expect(second).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(begun).not.toHaveBeenCalled();
    await expect(runExclusive('a', () => Promise.resolve('made'))).resolves.toBe('made');
  });
});
