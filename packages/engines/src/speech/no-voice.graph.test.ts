import { type ClipInput } from '../engine';
import { createHighsync } from '../highsync/engine';
import { createLatentsync } from '../latentsync/engine';
import { float32Of, float32Tensor, type RunModel } from '../model';
import { clipInput, generate, type OpenClip, trackOf, upTo } from '../test/clips';
import { AUDIO, STEPS, writeHighsyncPack } from '../test/highsync-pack';
import { writeLatentsyncPack } from '../test/latentsync-pack';
import { type TestPacks, testPacks } from '../test/test-sessions';
import { MEL_BANDS, type Recording, recordingOf, SAMPLE_RATE } from './log-mel';
import { voiceOnly } from './voice-only';

const FRAMES = 50;
const SOURCES = upTo(FRAMES);
/** Seconds in which somebody speaks. */
const SPOKEN = { start: 0.9, end: 1.1 };

/** Two seconds of a voice, and of a chord before and after it. */
const sound = (chord: number): Recording =>
  recordingOf(
    Float32Array.from({ length: (FRAMES / 25) * SAMPLE_RATE }, (_, n) => {
      const seconds = n / SAMPLE_RATE;
      const tone = (hertz: number): number => 0.2 * Math.sin(2 * Math.PI * hertz * seconds);
      // Loudest in its middle: a spectrogram is relative to the loudest of it, which no ramp may touch.
      const part = (seconds - SPOKEN.start) / (SPOKEN.end - SPOKEN.start);
      const speaks = part >= 0 && part < 1;
      return speaks
        ? Math.sin(Math.PI * part) * (tone(150) + tone(600))
        : chord * 0.5 * (tone(262) + tone(330) + tone(392));
    }),
  );

/** The outputs whose windows of 0.2 s, and the spectrogram's of 25 ms, hold nothing of the voice nor of its ramps. */
const AT_REST = SOURCES.filter((output) => {
  const seconds = (output + 0.5) / 25;
  return seconds < SPOKEN.start - 0.2 || seconds > SPOKEN.end + 0.2;
});

/** The networks' audio encoder tells steps apart by their number alone; this one tells how loud they are. */
const hearing =
  (run: RunModel): RunModel =>
  async (role, feeds, take) => {
    if (role !== 'whisper_encoder') return run(role, feeds, take);
    const mel = float32Of(feeds, 'mel');
    const loudness = (step: number): number =>
      upTo(MEL_BANDS).reduce((sum, band) => sum + (mel[2 * (band * STEPS + step)] ?? NaN), 0) / MEL_BANDS;
    const states = Float32Array.from({ length: STEPS * AUDIO.width }, (_, i) =>
      loudness(Math.floor(i / AUDIO.width)),
    );
    return { outputs: { states: float32Tensor(states, [1, STEPS, AUDIO.states, AUDIO.width]) }, feeds };
  };

const largestDifference = (a: Float32Array, b: Float32Array | undefined): number =>
  a.reduce((most, value, i) => Math.max(most, Math.abs(value - (b?.[i] ?? NaN))), 0);

describe('around a voice, published networks draw for music what they draw for digital silence', () => {
  let packs: TestPacks;
  beforeAll(async () => {
    packs = await testPacks();
  });
  afterAll(() => packs.close());

  /** Networks of the published form, small, whose pictures depend on the sound that they are fed. */
  const engines: Record<string, () => Promise<(input: ClipInput) => OpenClip>> = {
    latentsync: async () => {
      const pack = await writeLatentsyncPack(packs.at('latentsync'));
      const engine = createLatentsync(pack, hearing(await packs.load(pack)));
      return (input) => engine.open(input);
    },
    highsync: async () => {
      const pack = await writeHighsyncPack(packs.at('highsync'));
      const engine = createHighsync(pack, hearing(await packs.load(pack)));
      return (input) => engine.open(input);
    },
  };

  test.each(Object.entries(engines))('%s', async (_, load) => {
    const open = await load();
    const drawn = async (audio: Recording) => {
      const clip = open({ ...clipInput(trackOf(FRAMES), SOURCES).input, audio });
      const { images } = await generate(clip, SOURCES);
      await clip.close();
      return AT_REST.map((output) => images[output] ?? new Float32Array());
    };
    const rest = await drawn(sound(0));
    const gated = await drawn(voiceOnly(sound(1), [SPOKEN]));
    const heard = await drawn(sound(1));
    expect(rest).toHaveLength(AT_REST.length);
    for (const [i, image] of rest.entries()) {
      expect(largestDifference(image, gated[i])).toBeLessThan(1e-5);
      expect(largestDifference(image, heard[i])).toBeGreaterThan(0.01);
    }
  });
});
