import { readAhead } from './read-ahead';

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
  test('yields every picture once and in order, and reports the end', async () => {
    let ended = false;
    expect(await collect(readAhead(numbered(5).stream, Infinity, () => (ended = true)))).toEqual([
      0, 1, 2, 3, 4,
    ]);
    expect(ended).toBe(true);
  });

  test.each<[number, boolean]>([
    [4, false],
    [5, true],
    [6, true],
  ])('of five pictures, %d at most: whether those were all is known (%s)', async (most, all) => {
    let ended = false;
    const seen = await collect(readAhead(numbered(5).stream, most, () => (ended = true)));
    expect([seen.length, ended]).toEqual([Math.min(most, 5), all]);
  });

  test('one picture is read ahead while another is processed, and no more', async () => {
    const { stream, asked } = numbered(9);
    for await (const frame of readAhead(stream, Infinity)) {
      expect(asked()).toBe((frame[0] ?? 0) + 2);
    }
  });

  test('a failing stream ends the reading with its failure', async () => {
    const failing = { frameBytes: 1, readInto: () => Promise.reject(new Error('broken')) };
    await expect(collect(readAhead(failing, 3))).rejects.toThrow('broken');
  });
});
