import { type Engine } from '@lipsync/contract';
import { type FaceEncoder } from '@lipsync/engines';
import { encodeFrames, framesToEncode } from './encode-features';

test.each<[string, number, readonly (readonly number[])[], number]>([
  ['everything up to the last frame that an engine lacks', 5, [[0, 1, 4]], 5],
  ['only up to the last frame that an engine lacks', 5, [[0, 1]], 2],
  ['as far as one of the engines needs it', 5, [[], [2]], 3],
  ['nothing when nothing is lacking', 2, [[]], 0],
  ['nothing when no engine is given', 2, [], 0],
  ['no frames whose track rows a longer analysis might change', 3, [[0, 1, 2, 3]], 3],
])('of a video %s is decoded for features', (_, settled, lacking, frames) => {
  const encoders = lacking.map((indexes) => ({ lacks: (frame: number) => indexes.includes(frame) }));
  expect(framesToEncode(settled, encoders)).toBe(frames);
});

describe('the pass over the frames', () => {
  const [FIRST, SECOND] = ['musetalk', 'highsync'] as const;

  async function* frames(count: number): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < count; i++) yield new Uint8Array(1);
  }
  /** Records what it is given; fails at one of its steps. */
  function encoder(failsAt?: number | 'flush') {
    const seen: (number | 'flush')[] = [];
    const note = async (step: number | 'flush'): Promise<void> => {
      seen.push(step);
      if (step === failsAt) throw new Error(`at ${step}`);
    };
    const works: FaceEncoder = {
      add: (_, index) => note(index),
      flush: () => note('flush'),
      lacks: () => true,
    };
    return { works, seen };
  }
  async function pass(
    encoders: readonly FaceEncoder[],
    { source = frames(3), signal = new AbortController().signal } = {},
  ) {
    const failures = new Map<Engine, unknown>();
    let done = 0;
    const encodings = encoders.map((encoder, i) => ({ name: i === 0 ? FIRST : SECOND, encoder }));
    await encodeFrames(source, encodings, { failures, onFrame: (count) => (done = count), signal });
    return { failures, done };
  }
  test.each([0, 1, 'flush'] as const)(
    'an encoder that fails at %s does not affect the others',
    async (step) => {
      const [bad, good] = [encoder(step), encoder()];
      const { failures, done } = await pass([bad.works, good.works]);
      expect(failures).toEqual(new Map([[FIRST, new Error(`at ${step}`)]]));
      expect(bad.seen.at(-1)).toBe(step);
      expect(good.seen).toEqual([0, 1, 2, 'flush']);
      expect(done).toBe(3);
    },
  );

  test('decoding stops when no encoder is left', async () => {
    const [first, second] = [encoder(0), encoder(1)];
    const { failures, done } = await pass([first.works, second.works]);
    expect([...failures.keys()]).toEqual([FIRST, SECOND]);
    expect(done).toBe(1);
  });

  test('a stopped pass rejects with the reason, whatever its encoders report', async () => {
    const stop = new AbortController();
    const works: FaceEncoder = {
      add: async () => {
        stop.abort(new Error('stopped'));
        throw new Error('the pipe was closed');
      },
      flush: async () => undefined,
      lacks: () => true,
    };
    await expect(pass([works], { signal: stop.signal })).rejects.toThrow('stopped');
  });

  test('a video that cannot be decoded ends the pass for all', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(1);
      throw new Error('damaged');
    }
    const { works, seen } = encoder();
    await expect(pass([works], { source: broken() })).rejects.toThrow('damaged');
    expect(seen).toEqual([0]);
  });
});
