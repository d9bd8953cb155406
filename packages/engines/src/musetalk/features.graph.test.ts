import { HALF_MASK_VALUES, pictureLayout } from '@lipsync/kernels';
import { type EngineClip, type FrameFeatures, noFeatures } from '../engine';
import { type RunModel } from '../model';
import { type Pack } from '../packs';
import { memoryFeatures, onceSeenClip, syntheticTrack } from '../test/clips';
import { writePooledMusetalkPack } from '../test/musetalk-pack';
import { type TestPacks, testPacks } from '../test/test-sessions';
import { createMusetalk } from './engine';
import { type MusetalkManifest } from './manifest';

const format = {
  width: 160,
  height: 160,
  matrix: 'bt709',
  range: 'full',
  depth: 8,
  transfer: 'sdr',
} as const;
const layout = pictureLayout(format);
const FRAMES = 7;
const FACELESS = 5;
const track = syntheticTrack({
  frames: FRAMES,
  width: 160,
  height: 160,
  box: { x1: 30, y1: 10, x2: 130, y2: 150 },
  hasFace: (frame) => frame !== FACELESS,
});
const LATENTS = 2 * 3 * 32 * 32;

/** A different picture for every frame: dark on the left, bright on the right. */
function picture(frame: number): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: layout.bytes }, (_, i) =>
    i < layout.uOffset ? ((i % 160) + 3 * frame < 80 ? 40 + (i % 5) : 200 + (i % 5)) : 128,
  );
}

describe.each([
  {
    name: 'a parser of one face at a time',
    parsing: 'one face',
    atOnce: 1,
    values: LATENTS + HALF_MASK_VALUES,
  },
  { name: 'a parser of a batch', parsing: 'a batch', atOnce: 4, values: LATENTS + HALF_MASK_VALUES },
  { name: 'no parser', parsing: false, atOnce: Infinity, values: LATENTS },
] as const)(
  'the features that musetalk keeps of frames, on a pack with $name',
  ({ parsing, atOnce, values }) => {
    let packs: TestPacks;
    let runPack: RunModel;
    let pack: Pack<MusetalkManifest>;
    let calls: string[];

    const run: RunModel = async (role, feeds) => {
      calls.push(role);
      return runPack(role, feeds);
    };

    beforeAll(async () => {
      packs = await testPacks();
      pack = await writePooledMusetalkPack(packs.at('pooled'), { parsing, params: { batch: 4 } });
      runPack = await packs.load(pack);
    });
    afterAll(() => packs.close());
    beforeEach(() => {
      calls = [];
    });

    const engine = () => createMusetalk(pack, run);
    const openClip = (sources: readonly number[], features: FrameFeatures = noFeatures): EngineClip =>
      engine().open(onceSeenClip({ track, sources, format, features }));

    /** Renders all output frames of a clip, in batches of four. */
    async function render(sources: readonly number[], features?: FrameFeatures): Promise<Uint8Array[]> {
      const clip = openClip(sources, features);
      calls = [];
      const frames = sources.map((source) => picture(source));
      for (let first = 0; first < frames.length; first += 4) {
        const batch = clip.newBatch();
        const group = frames.slice(first, first + 4);
        const slots = group.map((frame, i) => batch.take(frame, first + i));
        if (batch.size === 0) continue;
        const faces = await batch.infer();
        group.forEach((frame, i) => {
          const slot = slots[i] ?? null;
          if (slot !== null) faces.put(slot, frame);
        });
        faces.recycle();
      }
      await clip.close();
      return frames;
    }
    const runs = (role: string): number => calls.filter((call) => call === role).length;
    /** Calls of the parser for so many faces of one batch. */
    const parses = (faces: number): number => Math.ceil(faces / atOnce);

    test('as many values are kept per frame as are worth storing in a file', () => {
      expect(engine().features.values).toBe(values);
    });

    test('a frame that was rendered once is neither encoded nor parsed again, and looks the same', async () => {
      const features = memoryFeatures(values);
      const first = await render([0, 1, 2, 3], features);
      expect([runs('vae_encoder'), runs('face_parsing')]).toEqual([2, parses(4)]);
      expect([...features.kept.keys()]).toEqual([0, 1, 2, 3]);

      const second = await render([3, 2, 1, 0], features);
      expect([runs('vae_encoder'), runs('face_parsing'), runs('unet')]).toEqual([0, 0, 1]);
      expect(second.reverse()).toEqual(first);
      expect(first[1]).not.toEqual(picture(1));
    });

    test('known and unknown frames share a batch', async () => {
      const features = memoryFeatures(values);
      await render([1, 3], features);
      const alone = await render([0, 1, 2, 3]);
      expect(await render([0, 1, 2, 3], features)).toEqual(alone);
      expect([...features.kept.keys()]).toEqual([1, 3, 0, 2]);
      expect(runs('face_parsing')).toBe(parses(2));
    });

    test('a held frame is encoded once per batch, and every copy of it gets the face', async () => {
      const held = await render([6, 6, 6, 6]);
      expect([runs('vae_encoder'), runs('face_parsing')]).toEqual([2, parses(1)]);
      const [alone] = await render([6]);
      for (const frame of held) expect(frame).toEqual(alone);
    });

    test('a looping clip parses each frame only once even when nothing is stored', async () => {
      const once = await render([0, 1, 2, 3]);
      const loop = await render([0, 1, 2, 3, 0, 1, 2, 3]);
      expect([runs('vae_encoder'), runs('face_parsing')]).toEqual([4, parses(4)]);
      expect(loop).toEqual([...once, ...once]);
    });

    test('a preparation computes what a render would, for every face and nothing else', async () => {
      const features = memoryFeatures(values);
      const encoder = engine().openEncoder({ track, format, features });
      const frame = new Uint8Array(layout.bytes);
      for (let source = 0; source < FRAMES; source++) {
        // The same memory every time, like the decoder's.
        frame.set(picture(source));
        await encoder.add(frame, source);
      }
      await encoder.flush();
      const faces = Array.from({ length: FRAMES }, (_, i) => i).filter((i) => i !== FACELESS);
      expect([...features.kept.keys()].sort()).toEqual(faces);
      // Six faces in batches of four.
      expect(runs('vae_encoder')).toBe(4);

      const all = Array.from({ length: FRAMES }, (_, i) => i);
      const plain = await render(all);
      expect(await render(all, features)).toEqual(plain);
      expect([runs('vae_encoder'), runs('face_parsing')]).toEqual([0, 0]);
      expect(plain[FACELESS]).toEqual(picture(FACELESS));
    });

    test('a resumed preparation computes only what is missing', async () => {
      const features = memoryFeatures(values);
      await render([0, 1, 2, 3], features);
      const encoder = engine().openEncoder({ track, format, features });
      for (let source = 0; source < FRAMES; source++) await encoder.add(picture(source), source);
      await encoder.flush();
      expect([...features.kept.keys()].sort()).toEqual([0, 1, 2, 3, 4, 6]);
    });

    test('only the selected part of the face changes', async () => {
      const [frame] = await render([0]);
      const before = picture(0);
      const changed = (x: number, y: number): boolean => frame?.[y * 160 + x] !== before[y * 160 + x];
      // The middle of the crop is at row 86; dark pixels lie left of column 80.
      expect([changed(100, 120), changed(100, 60)]).toEqual([true, false]);
      expect(changed(50, 120)).toBe(!parsing);
    });
  },
);
