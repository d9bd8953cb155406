import { inTurn } from './create-render-turns';
import { createDb, type Db } from './db';

describe('creates that go on alone', () => {
  let db: Db;
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick'] });
    // Connects to nothing by itself.
    db = createDb({
      url: 'postgresql://u:p@127.0.0.1:1/none',
      poolMax: 1,
      publicBaseUrl: 'https://api.example.com',
    });
  });
  afterEach(async () => {
    jest.useRealTimers();
    await db.close();
  });

  it('are three at once, and of a customer one', async () => {
    const begun: string[] = [];
    const ends: (() => void)[] = [];
    const create = (name: string): Promise<void> =>
      inTurn(db, name.slice(0, 1), () => {
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

  it('are refused as service_unavailable, and never begun, when they waited for too long', async () => {
    let fail: (error: Error) => void = () => undefined;
    const first = inTurn(db, 'a', () => new Promise((_, reject) => (fail = reject)));
    const begun = jest.fn(() => Promise.resolve());
    const second = inTurn(db, 'a', begun);
    await new Promise(setImmediate);
    jest.advanceTimersByTime(5_000);
    fail(new Error('no lock'));
    await expect(first).rejects.toThrow('no lock');
    await expect(second).rejects.toMatchObject({ code: 'service_unavailable' });
    expect(begun).not.toHaveBeenCalled();
    await expect(inTurn(db, 'a', () => Promise.resolve('made'))).resolves.toBe('made');
  });
});
