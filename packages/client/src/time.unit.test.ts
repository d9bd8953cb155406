import { ConnectionError, UnexpectedResponse } from './errors';
import { pause, repeatedly, retryAfterSeconds, withDeadline } from './time';

beforeEach(() => jest.useFakeTimers());
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** The milliseconds at which the attempts began, of work that always fails. */
async function attemptsOf(
  policy: { maxRetries: number; timeoutMs: number },
  failure: Error,
): Promise<number[]> {
  const startedAt = performance.now();
  const beginnings: number[] = [];
  const ended = repeatedly(policy, () => {
    beginnings.push(performance.now() - startedAt);
    return Promise.reject(failure);
  }).catch(() => undefined);
  await jest.runAllTimersAsync();
  await ended;
  return beginnings;
}

it.each([
  [-1, 0],
  [1e12, 2 ** 31 - 1],
])('pauses of %d ms last as long as a timer can: %d ms', async (asked, lasts) => {
  const startedAt = performance.now();
  const paused = pause(asked);
  await jest.runAllTimersAsync();
  await paused;
  expect(performance.now() - startedAt).toBe(lasts);
});

describe('repetitions', () => {
  it('come after pauses that double up to 8 seconds, of which chance takes its share', async () => {
    const failure = new ConnectionError('upload', 'broke');
    const random = jest.spyOn(Math, 'random').mockReturnValue(1);
    const longest = await attemptsOf({ maxRetries: 6, timeoutMs: Infinity }, failure);
    expect(longest).toEqual([0, 500, 1500, 3500, 7500, 15_500, 23_500]);
    random.mockReturnValue(0.5);
    expect(await attemptsOf({ maxRetries: 2, timeoutMs: Infinity }, failure)).toEqual([0, 250, 750]);
  });

  it('come no sooner than the service asks, and not after the deadline', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const limited = new UnexpectedResponse('upload', 429, '', 3);
    expect(await attemptsOf({ maxRetries: Infinity, timeoutMs: 10_000 }, limited)).toEqual([
      0, 3000, 6000, 9000,
    ]);
  });

  it('count from the last progress', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0);
    let attempts = 0;
    const work = repeatedly({ maxRetries: 1, timeoutMs: Infinity }, (_, progressed) => {
      attempts += 1;
      progressed();
      return attempts === 10
        ? Promise.resolve('done')
        : Promise.reject(new ConnectionError('upload', 'broke'));
    });
    await jest.runAllTimersAsync();
    await expect(work).resolves.toBe('done');
  });
});

it('a deadline is put off by every sign of life', async () => {
  let alive: () => void = () => undefined;
  const aborted: unknown[] = [];
  const error = () => new ConnectionError('upload', 'fell silent');
  const work = withDeadline({ ms: 1000, signal: undefined, error }, (signal, live) => {
    alive = live;
    return new Promise((_, reject) =>
      signal.addEventListener('abort', () => {
        aborted.push(signal.reason);
        reject(new Error('whatever the platform says'));
      }),
    );
  }).catch((reason: unknown) => reason);
  await jest.advanceTimersByTimeAsync(900);
  alive();
  await jest.advanceTimersByTimeAsync(900);
  expect(aborted).toEqual([]);
  await jest.advanceTimersByTimeAsync(100);
  await expect(work).resolves.toBeInstanceOf(ConnectionError);
});

it('understands seconds and dates of Retry-After, and nothing else', () => {
  jest.setSystemTime(Date.UTC(2026, 0, 1));
  const read = (value?: string) =>
    retryAfterSeconds(new Headers(value === undefined ? {} : { 'retry-after': value }));
  expect(read('120')).toBe(120);
  expect(read('Thu, 01 Jan 2026 00:00:30 GMT')).toBe(30);
  expect(read('Wed, 31 Dec 2025 00:00:00 GMT')).toBe(0);
  expect(read('soon')).toBeUndefined();
  expect(read()).toBeUndefined();
});
