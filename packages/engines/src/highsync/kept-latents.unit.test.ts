import { memoryFeatures } from '../test/highsync-clip-fixture';
import { createKeptLatents, keptLayout } from './kept-latents';

test('latents made stale by a longer track are recomputed, and are found from then on', () => {
  const layout = keptLayout({ channels: 1, height: 1, width: 2, scale: 1 });
  const features = memoryFeatures(layout.values);
  /** What a render of two frames does when the shot has this height. */
  const render = (height: number) => {
    const kept = createKeptLatents(layout, features, {
      crops: Float32Array.of(0, 0, 9, height, 1, 0, 10, height),
    });
    const missing = [0, 1].filter((source) => kept.find(source) === null);
    for (const source of missing) kept.keep(source, Float32Array.of(source, height));
    const latents = [0, 1].map((source) => [...(kept.find(source) ?? [])]);
    return { missing: missing.length, latents };
  };
  expect(render(9).missing).toBe(2);
  expect(render(9).missing).toBe(0);
  expect(render(12).missing).toBe(2);
  expect(render(12)).toEqual({
    missing: 0,
    latents: [
      [0, 12],
      [1, 12],
    ],
  });
});
