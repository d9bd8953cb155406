import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFeatureFile } from '../../pipeline/feature-file';
import { createKeptLatents, keptLayout } from './kept-latents';

test('latents made stale by a longer track count as added when they are recomputed, and are found from then on', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kept-latents-'));
  const layout = keptLayout({ channels: 1, height: 1, width: 2, scale: 1 });
  const origin = { ...layout, analyzerVersion: 'a@1.0.0+0123', trackVersion: '2' };
  /** What a render of two frames does when the shot has this height. */
  const render = (height: number) => {
    const features = openFeatureFile(join(folder, 'features.bin'), origin);
    const kept = createKeptLatents(layout, features, {
      crops: Float32Array.of(0, 0, 9, height, 1, 0, 10, height),
    });
    const missing = [0, 1].filter((source) => kept.find(source) === null);
    for (const source of missing) kept.keep(source, Float32Array.of(source, height));
    const latents = [0, 1].map((source) => [...(kept.find(source) ?? [])]);
    features.close();
    return { missing: missing.length, added: features.added(), latents };
  };
  try {
    expect(render(9)).toMatchObject({ missing: 2, added: 2 });
    expect(render(9)).toMatchObject({ missing: 0, added: 0 });
    expect(render(12)).toMatchObject({ missing: 2, added: 2 });
    expect(render(12)).toEqual({
      ...{ missing: 0, added: 0 },
      latents: [
        [0, 12],
        [1, 12],
      ],
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
