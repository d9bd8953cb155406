import { WINDOW_STEPS } from '@lipsync/lipsync';
import { type RunModel } from '../../packs/run-model';
import { createAudioFeatures } from './audio-features';

/** Encodes nothing but the number of every step since the start of the recording. */
function countingEncoder() {
  let segments = 0;
  const run: RunModel = (role, feeds) => {
    const first = segments++ * 1500;
    const data = Float32Array.from({ length: 1500 * 2 }, (_, i) => first + (i >> 1) + 1);
    expect([role, feeds['mel']?.dims]).toEqual(['whisper_encoder', [1, 80, 3000]]);
    return Promise.resolve({ outputs: { states: { type: 'float32', dims: [1, 1500, 1, 2], data } }, feeds });
  };
  return { run, segments: () => segments };
}

const LONG = new Float32Array(61 * 16_000);

test('a window across the border of two 30 s segments is seamless', async () => {
  const features = createAudioFeatures(LONG, { whisper: 'hf', states: 1, width: 2 }, countingEncoder().run);
  const target = new Float32Array(features.windowSize);
  await features.readWindows([750], target);
  const steps = Array.from(target).filter((_, i) => i % 2 === 0);
  expect(steps).toEqual(Array.from({ length: WINDOW_STEPS }, (_, i) => 1500 - 4 + i + 1));
});

test('segments are encoded once each, when the output reaches them', async () => {
  const { run, segments } = countingEncoder();
  const features = createAudioFeatures(LONG, { whisper: 'hf', states: 1, width: 2 }, run);
  const target = new Float32Array(8 * features.windowSize);
  const counts: number[] = [];
  for (let frame = 0; frame < 1525; frame += 8) {
    await features.readWindows(
      Array.from({ length: 8 }, (_, i) => frame + i),
      target,
    );
    counts.push(segments());
  }
  expect(counts[0]).toBe(1);
  expect(counts[Math.floor(760 / 8)]).toBe(2);
  expect(counts[counts.length - 1]).toBe(3);
});

test('what the encoder says about its own padding is not used', async () => {
  const features = createAudioFeatures(
    new Float32Array(16_000),
    { whisper: 'hf', states: 1, width: 2 },
    countingEncoder().run,
  );
  const target = new Float32Array(features.windowSize).fill(9);
  await features.readWindows([24], target);
  expect(Array.from(target).filter((_, i) => i % 2 === 0)).toEqual([45, 46, 47, 48, 49, 50, 0, 0, 0, 0]);
});

test('a pack made for the other Whisper gets its spectrogram: padded in mel space, not in the waveform', async () => {
  const fed: Record<string, number | undefined> = {};
  for (const whisper of ['hf', 'openai'] as const) {
    const run: RunModel = (role, feeds) => {
      fed[whisper] = Number(feeds['mel']?.data[2999]);
      return countingEncoder().run(role, feeds);
    };
    const features = createAudioFeatures(
      new Float32Array(16_000).fill(0.1),
      { whisper, states: 1, width: 2 },
      run,
    );
    await features.readWindows([0], new Float32Array(features.windowSize));
  }
  expect(fed['openai']).toBe(0);
  expect(fed['hf']).toBeLessThan(-0.5);
});
