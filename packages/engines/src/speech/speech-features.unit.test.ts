import { float32Of, type RunModel } from '../model';
import { recordingOf } from './log-mel';
import { type AudioFeatures, createAudioFeatures, withSilence } from './speech-features';
import { voiceOnly } from './voice-only';

describe('audio features', () => {
  const RATE = 16_000;
  const HF = { whisper: 'hf', states: 1, width: 2 } as const;
  const OPENAI = { whisper: 'openai', states: 1, width: 2 } as const;

  /**
   * Encodes only the number of each step since the start of the recording, inferred from being called for windows that
   * begin every `stride` steps; the second value identifies the window.
   */
  function countingEncoder(stride: number) {
    let windows = 0;
    const arrays = new Set<Float32Array>();
    const run: RunModel = (role, feeds, take) => {
      const window = windows++;
      const data = take?.(1500 * 2) ?? new Float32Array(1500 * 2);
      for (let i = 0; i < data.length; i++) data[i] = i % 2 === 0 ? window * stride + (i >> 1) + 1 : window;
      arrays.add(data);
      expect([role, feeds['mel']?.dims]).toEqual(['whisper_encoder', [1, 80, 3000]]);
      return Promise.resolve({
        outputs: { states: { type: 'float32', dims: [1, 1500, 1, 2], data } },
        feeds,
      });
    };
    return { run, windows: () => windows, arrays: () => arrays.size };
  }

  /** This many seconds of silence. */
  const silence = (seconds: number) => recordingOf(new Float32Array(seconds * RATE));
  const LONG = silence(61);
  const firstValues = (target: Float32Array) => Array.from(target).filter((_, i) => i % 2 === 0);

  /** The middle of a frame of 25 a second. */
  const middle = (frame: number): number => (frame + 0.5) / 25;

  /** The window around a second, written over other values. */
  async function windowAt(features: AudioFeatures, seconds: number): Promise<Float32Array> {
    const target = new Float32Array(features.windowSize).fill(9);
    (await features.load(seconds, seconds)).write(seconds, target, 0);
    return target;
  }

  describe("with Hugging Face's front end and zeros at the edges", () => {
    test("the encoder's output for its own padding is not used", async () => {
      const { run } = countingEncoder(1500);
      const features = createAudioFeatures(silence(1), HF, 'zeros', run);
      expect(firstValues(await windowAt(features, middle(24)))).toEqual([45, 46, 47, 48, 49, 50, 0, 0, 0, 0]);
    });
  });

  describe("with OpenAI's front end and repeats at the edges", () => {
    test('every step of a long recording is distinct, across all windows', async () => {
      const features = createAudioFeatures(LONG, OPENAI, 'repeat', countingEncoder(1200).run);
      const wrongFrames: number[] = [];
      for (let frame = 0; frame < 1525; frame++) {
        const wrong = firstValues(await windowAt(features, middle(frame))).filter((value, place) => {
          const step = Math.min(Math.max(2 * frame - 4 + place, 0), 3049);
          return Math.abs(value - (step + 1)) > 0.01;
        });
        if (wrong.length > 0) wrongFrames.push(frame);
      }
      expect(wrongFrames).toEqual([]);
    });

    test('one window blends gradually into the next, where both have seconds of context', async () => {
      const { run } = countingEncoder(1200);
      const features = createAudioFeatures(LONG, OPENAI, 'repeat', run);
      const windows = await features.load(middle(600), middle(699));
      const target = new Float32Array(features.windowSize);
      const blend = Array.from({ length: 100 }, (_, i) => {
        windows.write(middle(600 + i), target, 0);
        return target[4 * 2 + 1] ?? NaN; // of step 2 · frame
      });
      // Window 0 ends at step 1500 and window 1 begins at 1200: the blend is centered on 1350 and takes a second.
      expect(blend.filter((share) => share === 0)).toHaveLength(63);
      expect(blend.filter((share) => share === 1)).toHaveLength(12);
      for (let i = 1; i < 100; i++) {
        const step = (blend[i] ?? NaN) - (blend[i - 1] ?? NaN);
        expect(step).toBeGreaterThanOrEqual(0);
        expect(step).toBeLessThan(0.05);
      }
    });

    test('loaded windows can be read in any order and repeatedly', async () => {
      const features = createAudioFeatures(LONG, OPENAI, 'repeat', countingEncoder(1200).run);
      const windows = await features.load(middle(0), middle(40));
      await features.load(middle(700), middle(710));
      const target = new Float32Array(features.windowSize);
      for (const frame of [40, 10, 40]) {
        windows.write(middle(frame), target, 0);
        expect(firstValues(target)[0]).toBe(2 * frame - 4 + 1);
      }
      expect(() => windows.write(middle(800), target, 0)).toThrow(RangeError);
    });

    test('silence follows where the output outlasts the sound, not the last sound held', async () => {
      const seen: number[] = [];
      const run: RunModel = (role, feeds) => {
        const mel = feeds['mel']?.data;
        // Frames within speech, within silence, and in the padding after both.
        seen.push(...[50, 150, 250].map((frame) => Number(mel?.[frame])));
        return countingEncoder(1200).run(role, feeds);
      };
      const audio = withSilence(recordingOf(new Float32Array(RATE).fill(0.3)), 2);
      expect(audio).toHaveLength(2 * RATE);
      await createAudioFeatures(audio, OPENAI, 'repeat', run).load(0, 0);
      const [speech = NaN, silence = NaN, padding = NaN] = seen;
      expect(silence).toBeLessThan(speech);
      expect(padding).toBe(0);
      expect(silence).not.toBe(0);
    });

    test('between two steps the states are between theirs, in proportion to time', async () => {
      const features = createAudioFeatures(LONG, OPENAI, 'repeat', countingEncoder(1200).run);
      for (const rate of [24, 30, 60]) {
        for (const frame of [10, 11, 12, 13]) {
          const seconds = (frame + 0.5) / rate;
          // The middle of step n of the recording is at (n + 0.5) / 50 s, and its value is n + 1.
          const window = firstValues(await windowAt(features, seconds));
          window.forEach((value, place) => expect(value - 0.5).toBeCloseTo(50 * seconds - 4.5 + place, 3));
        }
      }
    });

    test('a recording too short for a single step gives zeros', async () => {
      const features = createAudioFeatures(
        recordingOf(new Float32Array(100)),
        OPENAI,
        'repeat',
        countingEncoder(1200).run,
      );
      expect((await windowAt(features, middle(3))).every((value) => value === 0)).toBe(true);
    });
  });

  test.each([
    [HF, 'zeros', 1500, 1],
    [OPENAI, 'repeat', 1200, 2],
  ] as const)('a recording of any length needs the memory of only a few windows: %o', async (...row) => {
    const [params, edges, stride, arrays] = row;
    const encoder = countingEncoder(stride);
    const features = createAudioFeatures(silence(121), params, edges, encoder.run);
    const held = await features.load(middle(0), middle(7));
    const target = new Float32Array(features.windowSize);
    for (let frame = 8; frame < 3024; frame += 8) {
      // Two batches are in flight at once.
      const [windows] = await Promise.all([
        features.load(middle(frame), middle(frame + 7)),
        features.load(middle(frame + 8), middle(frame + 15)),
      ]);
      windows.write(middle(frame + 7), target, 0);
      expect(firstValues(target)[4]).toBeCloseTo(2 * (frame + 7) + 1, 2);
    }
    expect(encoder.windows()).toBe(5);
    expect(encoder.arrays()).toBe(arrays);
    held.write(middle(7), target, 0);
    expect(firstValues(target)[4]).toBe(15);
  });

  test.each([HF, OPENAI])(
    'where there is no voice, the encoder gets silence, whatever sounds: %o',
    async (params) => {
      let gated = new Float32Array();
      const run: RunModel = (role, feeds) => {
        gated = float32Of(feeds, 'mel').slice();
        return countingEncoder(1500).run(role, feeds);
      };
      const music = Float32Array.from({ length: 4 * RATE }, (_, n) => 0.3 * Math.sin(n / 5));
      const heard = voiceOnly(recordingOf(music), [{ start: 1, end: 2 }]);
      await createAudioFeatures(heard, params, 'repeat', run).load(0, 0);
      const bands = Array.from({ length: 80 }, (_, band) => gated.subarray(band * 3000, (band + 1) * 3000));
      const highest = (from: number, to: number): number =>
        Math.max(...bands.map((band) => Math.max(...band.subarray(from, to))));
      const floor = Math.min(...bands.map((band) => Math.min(...band)));
      expect([highest(0, 95), highest(205, 395)]).toEqual([floor, floor]);
      expect(highest(100, 200)).toBeGreaterThan(floor + 1);
    },
  );

  test('each encoder gets its own spectrogram: padded in mel space, or in the waveform', async () => {
    const fed: Record<string, number | undefined> = {};
    for (const params of [HF, OPENAI]) {
      const run: RunModel = (role, feeds) => {
        fed[params.whisper] = Number(feeds['mel']?.data[2999]);
        return countingEncoder(1500).run(role, feeds);
      };
      await createAudioFeatures(recordingOf(new Float32Array(RATE).fill(0.1)), params, 'repeat', run).load(
        0,
        0,
      );
    }
    expect(fed['openai']).toBe(0);
    expect(fed['hf']).toBeLessThan(-0.5);
  });
});
