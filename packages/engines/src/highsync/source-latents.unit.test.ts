import { type FrameFeatures } from '../engine';
import { createArrayPool, float32Tensor, type Tensors } from '../model';
import { clipInput, everyFrame, FORMAT, memoryFeatures, trackOf } from '../test/clips';
import { highsyncFaces } from './faces';
import { cachedLayout, createCachedLatents, createFaceLatents, createSourceLatents } from './source-latents';

describe('source latents', () => {
  const FRAMES = 96;
  const STRETCH = 12;
  const PARAMS = { resolution: 8, latent: { channels: 1, height: 2, width: 3, scale: 1 } };
  const SIZE = 6;

  const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

  /** Counts the arrays in which latents are passed to and from storage. */
  function watchedFeatures() {
    const { kept, ...features } = memoryFeatures(cachedLayout(PARAMS.latent).values);
    const arrays = new Set<Float32Array>();
    const watched: FrameFeatures = {
      has: (source) => features.has(source),
      read(source, target, offset) {
        arrays.add(target);
        features.read(source, target, offset);
      },
      write(source, values, offset) {
        arrays.add(values);
        features.write(source, values, offset);
      },
    };
    return { watched, kept, arrays };
  }

  test('a long clip holds the latents of the frames in use in memory, encoded or stored, and each belongs to its own frame', async () => {
    const { watched, kept, arrays } = watchedFeatures();
    const track = trackOf(FRAMES);
    const faces = highsyncFaces(track);
    const used: number[] = [];
    for (const known of [0, FRAMES]) {
      expect(kept.size).toBe(known);
      const pool = createArrayPool(STRETCH);
      let encoded = 0;
      const call = async (): Promise<Tensors> => {
        const moments = pool.take(2 * SIZE).fill(encoded++);
        return { latent: float32Tensor(moments, [1, 2, 2, 3]) };
      };
      const { input } = clipInput(track, upTo(FRAMES), { features: watched });
      const latentsOf = createSourceLatents(
        { ...input, instants: everyFrame(input) },
        createCachedLatents(cachedLayout(PARAMS.latent), watched, faces),
        createFaceLatents(PARAMS, faces, FORMAT, call, pool),
        pool,
      );
      const seen = new Set<Float32Array>();
      for (let start = 0; start < FRAMES; start += STRETCH) {
        // Half of the frames before are still in use.
        const range = { start: Math.max(0, start - STRETCH / 2), end: start + STRETCH };
        const latents = await latentsOf.hold(range, input.signal);
        const wanted = upTo(range.end - range.start).map((i) => range.start + i);
        expect([...latents.keys()].sort((a, b) => a - b)).toEqual(wanted);
        for (const [source, latent] of latents) {
          expect([...latent]).toEqual(Array(SIZE).fill(source));
          seen.add(latent);
        }
      }
      await latentsOf.close();
      expect(encoded).toBe(FRAMES - known);
      used.push(seen.size);
    }
    expect(used).toEqual([1.5 * STRETCH, 1.5 * STRETCH]);
    // One for each of the two clips.
    expect(arrays.size).toBe(2);
  });
});
