import { getEventListeners } from 'node:events';
import { createFramePool } from './frame-pool';

const frames = (count: number) => Array.from({ length: count }, (_, i) => Uint8Array.of(i));
const going = new AbortController().signal;

describe('frame pool', () => {
  test('hands out exactly the buffers that it was given, and waits for one to be returned', async () => {
    const given = frames(2);
    const pool = createFramePool(given);
    const taken = [await pool.take(going), await pool.take(going)];
    expect(new Set(taken)).toEqual(new Set(given));

    let third: Uint8Array | undefined;
    const waiting = pool.take(going).then((frame) => (third = frame));
    await Promise.resolve();
    expect(third).toBeUndefined();
    pool.giveBack(taken[1] ?? Uint8Array.of(9));
    expect(await waiting).toBe(taken[1]);
  });

  test('serves waiting callers in order', async () => {
    const pool = createFramePool(frames(1));
    const first = await pool.take(going);
    const order: string[] = [];
    const a = pool.take(going).then((frame) => {
      order.push('a');
      pool.giveBack(frame);
    });
    const b = pool.take(going).then(() => order.push('b'));
    pool.giveBack(first);
    await Promise.all([a, b]);
    expect(order).toEqual(['a', 'b']);
  });

  test('leaves nothing on the signal of a caller that was served, however often it waits', async () => {
    const pool = createFramePool(frames(1));
    const { signal } = new AbortController();
    const frame = await pool.take(signal);
    const waiting = pool.take(signal);
    pool.giveBack(frame);
    await waiting;
    expect(getEventListeners(signal, 'abort')).toHaveLength(0);
  });

  test('does not lose a buffer to a caller that stops waiting', async () => {
    const pool = createFramePool(frames(1));
    const frame = await pool.take(going);
    const stop = new AbortController();
    const waiting = pool.take(stop.signal);
    stop.abort(new Error('cancelled'));
    await expect(waiting).rejects.toThrow('cancelled');
    pool.giveBack(frame);
    expect(await pool.take(going)).toBe(frame);
    await expect(pool.take(stop.signal)).rejects.toThrow('cancelled');
  });
});
