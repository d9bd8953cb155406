import { batchCalls, type Batches } from './batch-calls';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Batches that end when the test says so. */
function held(options: Batches) {
  const batches: (readonly number[])[] = [];
  const ends: (() => void)[] = [];
  const double = batchCalls<number, number>(options, (items) => {
    batches.push(items);
    return new Promise((resolve) => ends.push(() => resolve(items.map((item) => item * 2))));
  });
  return { batches, double, end: () => ends.shift()?.() };
}

describe('batchCalls', () => {
  it('runs the calls of one turn of the event loop as one batch, and gives each its own result', async () => {
    const { batches, double, end } = held({ max: 8, inFlight: 1 });
    const results = Promise.all([double(1), double(2), double(3)]);
    await turn();
    end();
    expect(await results).toEqual([2, 4, 6]);
    expect(batches).toEqual([[1, 2, 3]]);
  });

  it('respects the maximum size and number of batches', async () => {
    const { batches, double, end } = held({ max: 2, inFlight: 2 });
    const results = Promise.all([1, 2, 3, 4, 5].map(double));
    await turn();
    expect(batches).toEqual([
      [1, 2],
      [3, 4],
    ]);
    end();
    await turn();
    await turn();
    expect(batches).toEqual([[1, 2], [3, 4], [5]]);
    end();
    end();
    expect(await results).toEqual([2, 4, 6, 8, 10]);
  });

  it('starts the next batch before the callers continue with the results of the last', async () => {
    const { batches, double, end } = held({ max: 1, inFlight: 1 });
    let sentByThen = 0;
    const first = double(1).then(() => (sentByThen = batches.length));
    void double(2);
    await turn();
    end();
    await first;
    expect(sentByThen).toBe(2);
  });

  it('fails one call alone, and all calls of a batch if the batch fails', async () => {
    const run = batchCalls<string, string>({ max: 8, inFlight: 1 }, async (items) => {
      if (items.includes('all')) throw new Error('everything');
      return items.map((item) => (item === 'one' ? new Error('this one') : item));
    });
    const settled = await Promise.allSettled([run('one'), run('other')]);
    expect(settled).toMatchObject([
      { status: 'rejected', reason: { message: 'this one' } },
      { status: 'fulfilled', value: 'other' },
    ]);
    const failed = await Promise.allSettled([run('all'), run('other')]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await run('other')).toBe('other');
  });

  describe('with a waiting limit', () => {
    const limit = { waitMs: 5_000, error: () => new Error('too late') };
    const endOf = (call: Promise<number>): Promise<number | string> =>
      call.catch((error: unknown) => String(error));
    beforeEach(() => {
      jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    });
    afterEach(() => {
      jest.useRealTimers();
    });

    it('rejects calls that were not started in time, and does not start them later', async () => {
      const { batches, double, end } = held({ max: 1, inFlight: 1, limit });
      const first = endOf(double(1));
      await turn();
      const second = endOf(double(2));
      jest.advanceTimersByTime(1_000);
      const third = endOf(double(3));
      jest.advanceTimersByTime(4_000);
      expect(await second).toBe('Error: too late');
      end();
      expect(await first).toBe(2);
      await turn();
      expect(batches).toEqual([[1], [3]]);
      end();
      expect(await third).toBe(6);
    });

    it('applies the limit to later calls too, each from its own beginning', async () => {
      const { double, end } = held({ max: 1, inFlight: 1, limit });
      const first = endOf(double(1));
      await turn();
      jest.advanceTimersByTime(3_000);
      const second = endOf(double(2));
      jest.advanceTimersByTime(3_000);
      const third = endOf(double(3));
      jest.advanceTimersByTime(2_000);
      expect(await second).toBe('Error: too late');
      jest.advanceTimersByTime(3_000);
      expect(await third).toBe('Error: too late');
      end();
      expect(await first).toBe(2);
    });

    it('uses one timer for any number of calls', async () => {
      const { double } = held({ max: 8, inFlight: 1, limit });
      for (let n = 0; n < 100; n += 1) void double(n).catch(() => undefined);
      await turn();
      expect(jest.getTimerCount()).toBe(1);
    });
  });

  it('goes on with the next batch while a result of the last takes longer', async () => {
    let finish: (value: string) => void = () => undefined;
    const slow = new Promise<string>((resolve) => (finish = resolve));
    const run = batchCalls<string, string>({ max: 1, inFlight: 1 }, async ([item = '']) => [
      item === 'slow' ? slow : item,
    ]);
    const first = run('slow');
    expect(await run('other')).toBe('other');
    finish('done');
    expect(await first).toBe('done');
  });
});
