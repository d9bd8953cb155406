import { insist } from './insist';

describe('insisting on a write', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  test('finished work is not lost because the database was away for a moment', async () => {
    let calls = 0;
    const written = insist(new AbortController().signal, async () => {
      if (++calls < 4) throw new Error('connection refused');
      return 'written';
    });
    await jest.advanceTimersByTimeAsync(10_000);
    expect(await written).toBe('written');
    expect(calls).toBe(4);
  });

  test('once the job is no longer ours it gives up at once, with the reason why writing failed', async () => {
    const lost = new AbortController();
    let calls = 0;
    const written = insist(lost.signal, async () => {
      calls++;
      throw new Error('connection refused');
    });
    await jest.advanceTimersByTimeAsync(2_500);
    const before = calls;
    lost.abort(new Error('lease lost'));
    await expect(written).rejects.toThrow('connection refused');
    expect(calls).toBe(before);
  });
});
