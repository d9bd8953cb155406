import { insist } from './insist';

const refused = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });

describe('insisting on a write', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('finished work is not lost because the database was away for a moment', async () => {
    let calls = 0;
    const written = insist(new AbortController().signal, async () => {
      if (++calls < 4) throw refused;
      return 'written';
    });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await written).toBe('written');
    expect(calls).toBe(4);
  });

  test('a write that the database refuses is not repeated: it would be refused again', async () => {
    let calls = 0;
    const written = insist(new AbortController().signal, async () => {
      calls++;
      throw new Error('violates a constraint');
    });
    await expect(written).rejects.toThrow('violates a constraint');
    expect(calls).toBe(1);
  });

  test('something else than the database may be what is away', async () => {
    let calls = 0;
    const away = new Error('the store is away');
    const written = insist(
      new AbortController().signal,
      async () => {
        if (++calls < 3) throw calls === 1 ? away : refused;
      },
      (error) => error === away,
    );
    const [ended] = await Promise.allSettled([written, jest.advanceTimersByTimeAsync(10_000)]);
    expect(ended).toEqual({ status: 'rejected', reason: refused });
    expect(calls).toBe(2);
  });

  test('once the job is no longer ours it gives up at once, with the reason why writing failed', async () => {
    const lost = new AbortController();
    let calls = 0;
    const written = insist(lost.signal, async () => {
      calls++;
      throw refused;
    });
    await jest.advanceTimersByTimeAsync(2_400);
    const before = calls;
    lost.abort(new Error('lease lost'));
    await expect(written).rejects.toThrow('connection refused');
    expect(calls).toBe(before);
  });
});
