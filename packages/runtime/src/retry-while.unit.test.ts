import { retryWhile } from './retry-while';

const away = new Error('the other side is away');
const isAway = (error: unknown): boolean => error === away;

describe('a write that is repeated', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('finished work is not lost because the other side was away for a moment', async () => {
    let calls = 0;
    const written = retryWhile(isAway, new AbortController().signal, async () => {
      if (++calls < 4) throw away;
      return 'written';
    });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await written).toBe('written');
    expect(calls).toBe(4);
  });

  test('a write that is refused is not repeated: it would be refused again', async () => {
    let calls = 0;
    const written = retryWhile(isAway, new AbortController().signal, async () => {
      calls++;
      throw new Error('violates a constraint');
    });
    await expect(written).rejects.toThrow('violates a constraint');
    expect(calls).toBe(1);
  });

  test('once there is no time left it gives up at once, with the reason why writing failed', async () => {
    const over = new AbortController();
    let calls = 0;
    const written = retryWhile(isAway, over.signal, async () => {
      calls++;
      throw away;
    });
    await jest.advanceTimersByTimeAsync(2_400);
    const before = calls;
    over.abort(new Error('lease lost'));
    await expect(written).rejects.toBe(away);
    expect(before).toBe(5);
    expect(calls).toBe(before);
  });

  test('nothing is tried once there is no time left', async () => {
    const written = retryWhile(isAway, AbortSignal.abort(new Error('lease lost')), async () => 'written');
    await expect(written).rejects.toThrow('lease lost');
  });
});
