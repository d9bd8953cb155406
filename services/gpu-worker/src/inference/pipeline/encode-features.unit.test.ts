import { FACE_TRACK_VERSION, type FaceTrack } from '@lipsync/lipsync';
import { type FaceEncoder } from '../engines/engine';
import { encodeFrames, framesToEncode } from './encode-features';

const track = (found: readonly number[]): FaceTrack => ({
  version: FACE_TRACK_VERSION,
  analyzerVersion: 'drawn',
  fps: 25,
  frames: found.length,
  width: 100,
  height: 100,
  found: Uint8Array.from(found),
  landmarks: new Float32Array(found.length * 136),
  cuts: new Uint8Array(found.length),
});
const knowing = (...frames: number[]) => ({ has: (frame: number) => frames.includes(frame) });

describe('how much of a video is decoded for features', () => {
  test('everything up to the last face that one of the engines does not know', () => {
    const faces = track([1, 1, 1, 1, 1]);
    expect(framesToEncode(faces, 5, [knowing()])).toBe(5);
    expect(framesToEncode(faces, 5, [knowing(2, 3, 4)])).toBe(2);
    expect(framesToEncode(faces, 5, [knowing(0, 1, 2, 3, 4), knowing(0, 1, 3, 4)])).toBe(3);
  });

  test('nothing when everything is known, no engine is given, or there is no face', () => {
    expect(framesToEncode(track([1, 1]), 2, [knowing(0, 1)])).toBe(0);
    expect(framesToEncode(track([1, 1]), 2, [])).toBe(0);
    expect(framesToEncode(track([0, 0]), 2, [knowing()])).toBe(0);
  });

  test('no trailing frames without a face', () => {
    expect(framesToEncode(track([1, 1, 0, 0]), 4, [knowing()])).toBe(2);
  });

  test('no frames whose track rows a longer analysis might change', () => {
    expect(framesToEncode(track([1, 1, 1, 1]), 3, [knowing()])).toBe(3);
  });
});

describe('the pass over the frames', () => {
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
    const works: FaceEncoder = { add: (_, index) => note(index), flush: () => note('flush') };
    return { works, seen };
  }
  async function pass(encoders: readonly FaceEncoder[], signal = new AbortController().signal) {
    const failures: [number, string][] = [];
    let done = 0;
    const onFailure = (failing: FaceEncoder, error: unknown): void =>
      void failures.push([encoders.indexOf(failing), error instanceof Error ? error.message : '']);
    await encodeFrames(frames(3), { encoders, onFailure, onFrame: (count) => (done = count), signal });
    return { failures, done };
  }

  test.each([0, 1, 'flush'] as const)(
    'an encoder that fails at %s does not affect the others',
    async (step) => {
      const [bad, good] = [encoder(step), encoder()];
      const { failures, done } = await pass([bad.works, good.works]);
      expect(failures).toEqual([[0, `at ${step}`]]);
      expect(bad.seen.at(-1)).toBe(step);
      expect(good.seen).toEqual([0, 1, 2, 'flush']);
      expect(done).toBe(3);
    },
  );

  test('decoding stops when no encoder is left', async () => {
    const [first, second] = [encoder(0), encoder(1)];
    const { failures, done } = await pass([first.works, second.works]);
    expect(failures.map(([index]) => index)).toEqual([0, 1]);
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
    };
    await expect(pass([works], stop.signal)).rejects.toThrow('stopped');
  });

  test('a video that cannot be decoded ends the pass for all', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(1);
      throw new Error('damaged');
    }
    const { works, seen } = encoder();
    const signal = new AbortController().signal;
    const passing = encodeFrames(broken(), {
      ...{ encoders: [works], onFailure: () => undefined, onFrame: () => undefined, signal },
    });
    await expect(passing).rejects.toThrow('damaged');
    expect(seen).toEqual([0]);
  });
});
