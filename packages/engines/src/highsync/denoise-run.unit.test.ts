import { createArrayPool } from '../model';
import { upTo } from '../test/clips';
import { SCHEDULE } from '../test/highsync-pack';
import { createDenoiseRun } from './denoise-run';
import { type HighsyncParams } from './manifest';
import { type PredictWindow } from './predict-window';

const LATENT = { channels: 2, height: 3, width: 4, scale: 1 };
const SIZE = 24;
const WINDOW = 12;
const STEPS = 20;

const paramsWith = (stretch: number): HighsyncParams => ({
  resolution: 32,
  latent: LATENT,
  audio: { whisper: 'openai', states: 1, width: 1 },
  window: WINDOW,
  overlap: 3,
  schedule: { ...SCHEDULE, steps: STEPS },
  guidance: 1,
  seed: 42,
  mask: { top: 1, bottom: 2, left: 1, right: 2 },
  stretch,
});

/** A network in which every frame of a window influences every other one, by its place. */
const mixing: PredictWindow = async (time, window) => {
  const noisy = new Float32Array(WINDOW * SIZE);
  const audio = new Float32Array(WINDOW);
  window.writeLatent(noisy);
  window.writeAudio(audio);
  const mean = noisy.reduce((sum, value, i) => sum + value * Math.cos(i), 0) / noisy.length;
  return noisy.map((value, i) => Math.sin(value + mean + time * (audio[i % WINDOW] ?? 0)));
};

/** Denoises a run of frames that begins at instant 7; also tells how many frames were in use at most. */
async function denoised(frames: number, stretch: number) {
  const range = { start: 7, end: 7 + frames };
  const instants = upTo(range.end).map((output) => ({ output, source: output }));
  let inUse = 0;
  const run = createDenoiseRun(
    paramsWith(stretch),
    mixing,
    createArrayPool(100),
  )(
    {
      range,
      instants,
      async load({ start, end }) {
        inUse = Math.max(inUse, end - start);
        const known = instants.slice(start, end);
        return {
          latents: new Map(known.map(({ source }) => [source, new Float32Array(SIZE).fill(source / 100)])),
          writeAudio: (instant, target, offset) => target.fill(instant / 100, offset, offset + 1),
          writeLandmarks: () => undefined,
        };
      },
    },
    new AbortController().signal,
  );
  const latents: number[][] = [];
  for await (const part of run) {
    for (const { instant, latent } of part) {
      expect(instant).toBe(range.start + latents.length);
      // A copy, because the frames' memory may be reused.
      latents.push([...latent]);
    }
  }
  return { latents, inUse };
}

test.each([1, 11, 12, 13, 20, 25, 61, 150])(
  'a run of %i frames is the same to the bit, however far denoising advances at a time',
  async (frames) => {
    const together = await denoised(frames, 1000);
    expect(together.latents).toHaveLength(frames);
    for (const stretch of [12, 13, 50])
      expect((await denoised(frames, stretch)).latents).toEqual(together.latents);
  },
);

test('the frames in memory do not grow with the run', async () => {
  // Each step is behind the one before by less than a window.
  for (const stretch of [12, 48]) {
    const { inUse } = await denoised(1500, stretch);
    expect(inUse).toBeLessThanOrEqual(stretch + STEPS * (WINDOW - 1));
  }
});
