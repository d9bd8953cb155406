import { getEventListeners } from 'node:events';
import { createFramePool, frameBudget, readAhead } from './frame-buffers';

const bytesOf = (width: number, height: number): number => (width * height * 3) / 2;
const MIB = 2 ** 20;

test.each([8, 12, 16])('4K in batches of %d stays within a quarter of a gigabyte', (batch) => {
  const bytes = bytesOf(3840, 2160);
  expect(frameBudget(batch, bytes) * bytes).toBeLessThanOrEqual(256 * MIB);
  expect(frameBudget(batch, bytes)).toBeGreaterThan(batch);
});

test('a batch always fits, with one picture to decode and one to encode', () => {
  expect(frameBudget(16, 1024 * MIB)).toBe(18);
});

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

/** A stream of `length` one-byte pictures holding their own index; records how many were requested. */
function numbered(length: number): { asked: () => number; stream: Parameters<typeof readAhead>[0] } {
  let asked = 0;
  const stream = {
    frameBytes: 1,
    readInto: async (frame: Uint8Array) => {
      const number = asked++;
      await new Promise((resolve) => setImmediate(resolve));
      if (number >= length) return false;
      frame[0] = number;
      return true;
    },
  };
  return { asked: () => asked, stream };
}

async function collect(frames: AsyncIterable<Uint8Array>): Promise<number[]> {
  const seen: number[] = [];
  for await (const frame of frames) seen.push(frame[0] ?? -1);
  return seen;
}

describe('readAhead', () => {
  test('yields every picture once and in order', async () => {
    expect(await collect(readAhead(numbered(5).stream))).toEqual([0, 1, 2, 3, 4]);
  });

  test('one picture is read ahead while another is processed, and no more', async () => {
    const { stream, asked } = numbered(9);
    for await (const frame of readAhead(stream)) {
      expect(asked()).toBe((frame[0] ?? 0) + 2);
    }
  });

  test('a failing stream ends the reading with its failure', async () => {
    const failing = { frameBytes: 1, readInto: () => Promise.reject(new Error('broken')) };
    await expect(collect(readAhead(failing))).rejects.toThrow('broken');
  });
});
