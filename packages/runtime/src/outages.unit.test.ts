import { createOutageNotice, retryWhile } from './outages';

const away = new Error('the other side is away');
const isAway = (error: unknown): boolean => error === away;

describe('a write that is repeated', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('does not lose finished work because its target was unavailable for a moment', async () => {
    let calls = 0;
    const written = retryWhile(isAway, new AbortController().signal, async () => {
      if (++calls < 4) throw away;
      return 'written';
    });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await written).toBe('written');
    expect(calls).toBe(4);
  });

  test('is not repeated if it is refused, since it would be refused again', async () => {
    let calls = 0;
    const written = retryWhile(isAway, new AbortController().signal, async () => {
      calls++;
      throw new Error('violates a constraint');
    });
    await expect(written).rejects.toThrow('violates a constraint');
    expect(calls).toBe(1);
  });

  test('gives up at once when no time is left, with the reason why writing failed', async () => {
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

  test('is not tried if no time is left', async () => {
    const written = retryWhile(isAway, AbortSignal.abort(new Error('lease lost')), async () => 'written');
    await expect(written).rejects.toThrow('lease lost');
  });
});

it('reports the beginning and the end of each outage, and nothing else', () => {
  const told: string[] = [];
  const notice = createOutageNotice({
    begins: (error) => void told.push(String(error)),
    ends: () => void told.push('over'),
  });
  notice.worked();
  notice.failed('first');
  notice.failed('second');
  notice.worked();
  notice.worked();
  notice.failed('third');
  expect(told).toEqual(['first', 'over', 'third']);
});
