import path from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { SAMPLE_AUDIO, SAMPLE_VIDEO } from '@lipsync/local-stack';
import { testFolder } from '@lipsync/testkit';
import { withWorkplace } from '../workplace';
import { measureClip } from './measure-clip';
import { gestureOf } from './phonemes';
import { knownSounds } from './speech';

/** The compiled inference process: a child process cannot run TypeScript. */
const entry = path.resolve(__dirname, '../../../../services/gpu-worker/dist/inference/main.js');

describe('the sample voice on the sample face', () => {
  const at = testFolder();

  beforeAll(async () => {
    await buildBuiltinPacks(at());
  });

  test('every sound is judged, in time, and the mouth is shut where nothing is said', async () => {
    const sounds = (await knownSounds(SAMPLE_AUDIO)) ?? [];
    const voice = { name: 'sample', file: SAMPLE_AUDIO, sounds };
    const clip = await withWorkplace({ packsDir: at(), entry }, async (place) =>
      measureClip(place, 'musetalk', await place.analyze(SAMPLE_VIDEO), voice),
    );

    const count = (gesture: string): number => sounds.filter((sound) => gestureOf(sound) === gesture).length;
    expect([clip.closures.cases, clip.dentals.cases]).toEqual([count('closure'), count('dental')]);
    expect(clip.closures.cases).toBeGreaterThan(5);
    expect(Math.abs(clip.lead_ms ?? NaN)).toBeLessThanOrEqual(80);
    expect(clip.opening_a).toBeGreaterThan(clip.opening_i);
    // The sample talks while the voice pauses.
    expect(clip.silent_speed).toBeLessThan(clip.source_silent_speed / 2);
    expect(clip.silent_opening).toBeLessThan(0.03);
    expect(clip.sharpness).toBeGreaterThan(0.6);
    expect(clip.residue).toBeLessThan(1.5);
    // The sample shuts its mouth, and its lips are painted redder than its skin. Pressed lips may be too thin to be judged.
    expect(clip.lips_touch.cases).toBeGreaterThanOrEqual(count('closure') - 1);
    expect(clip.lips_touch.done / clip.lips_touch.cases).toBeGreaterThan(0.6);
    expect(clip.texture_above).toBeGreaterThan(0.8);
  });
});
