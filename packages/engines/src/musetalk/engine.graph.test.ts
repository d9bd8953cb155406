import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pictureLayout } from '@lipsync/kernels';
import { type EngineClip, type LipSyncEngine } from '../engine';
import { type RunModel, type Tensors } from '../model';
import { type Pack } from '../packs';
import { recordingOf } from '../speech/log-mel';
import { drawnTrack, onceSeenClip, upTo } from '../test/clips';
import { writePooledMusetalkPack } from '../test/musetalk-pack';
import { paintedLandmarks } from '../test/painted-landmarks';
import { type TestPacks, testPacks } from '../test/test-sessions';
import { createMusetalk } from './engine';
import { type MusetalkManifest } from './manifest';

const format = {
  width: 96,
  height: 80,
  matrix: 'bt709',
  range: 'limited',
  depth: 8,
  transfer: 'sdr',
} as const;
const layout = pictureLayout(format);
const FRAMES = 20;
const FACELESS = [3, 12];

/** A face in every frame but two: mouth center at (48, 54), lips closed, nose bridge at row 39, chin at row 72. */
const FACE = paintedLandmarks({ side: 0, x: 48, y: 54, half: 9 }, 0);
FACE.set([48, 39], 29 * 2);
FACE.set([48, 72], 8 * 2);
const track = drawnTrack(
  upTo(FRAMES).map((frame) => (FACELESS.includes(frame) ? null : FACE)),
  format,
  [],
);

/** Mid-gray with texture, so that a copied pixel differs from a drawn one. */
function picture(): Uint8Array<ArrayBuffer> {
  return Uint8Array.from({ length: layout.bytes }, (_, i) =>
    i < layout.uOffset ? 150 + (i % 7) : 124 + (i % 3),
  );
}

/** The sample voice: 16-bit samples after a header of 44 bytes. */
const wav = readFileSync(join(__dirname, '../../../../samples/speech.wav'));
const speech = Float32Array.from(
  { length: (wav.length - 44) / 2 },
  (_, i) => wav.readInt16LE(44 + 2 * i) / 32768,
);
/** Before the first word, and in the first "a" of "papa". */
const SILENT = 1;
const SPEAKING = 60;

describe('musetalk on networks that know the answer', () => {
  let packs: TestPacks;
  let pack: Pack<MusetalkManifest>;
  let runPack: RunModel;
  let shapes: string[];
  let engine: LipSyncEngine;
  let fed: Tensors;

  const run: RunModel = async (role, feeds) => {
    if (role === 'unet') fed = structuredClone(feeds);
    shapes.push(
      `${role} ${Object.values(feeds)
        .map(({ dims }) => dims[0])
        .join(',')}`,
    );
    return runPack(role, feeds);
  };

  beforeAll(async () => {
    packs = await testPacks();
    pack = await writePooledMusetalkPack(packs.at('pack'), { landmarks: true, loudness: 0.25 });
    runPack = await packs.load(pack);
  });
  afterAll(() => packs.close());
  beforeEach(() => {
    shapes = [];
    engine = createMusetalk(pack, run);
  });

  /** A clip that shows source frame 0, except at the output frames given in `sources`. */
  const open = (shown: Readonly<Record<number, number>> = {}): EngineClip => {
    const sources = Array.from({ length: 5001 }, (_, output) => shown[output] ?? 0);
    return engine.open(onceSeenClip({ track, sources, format, audio: recordingOf(speech) }));
  };

  async function render(clip: EngineClip, output: number): Promise<Uint8Array> {
    const frame = picture();
    const batch = clip.newBatch();
    const slot = batch.take(frame, output);
    if (slot === null) throw new Error('a face was expected');
    (await batch.infer()).put(slot, frame);
    return frame;
  }

  const luma = (frame: Uint8Array, x: number, y: number): number => frame[y * format.width + x] ?? NaN;
  /** The middle of the lower face, which is the brighter the louder its moment is. */
  const brightness = (frame: Uint8Array): number => luma(frame, 48, 60);

  test('a face shows the sound of its moment', async () => {
    const clip = open();
    const [spoken, silent] = [await render(clip, SPEAKING), await render(clip, SILENT)];
    expect(brightness(spoken) - brightness(silent)).toBeGreaterThan(20);
  });

  test('the mouth follows the output’s time, whatever source frame is shown', async () => {
    const once = await render(open({ [SPEAKING]: 1 }), SPEAKING);
    const again = await render(open({ [SPEAKING]: 19 }), SPEAKING);
    expect(again).toEqual(once);
  });

  test('every byte outside the lower face is unchanged', async () => {
    const frame = await render(open(), SPEAKING);
    const before = picture();
    let changed = 0;
    for (let y = 0; y < format.height; y++) {
      for (let x = 0; x < format.width; x++) {
        if (luma(frame, x, y) === luma(before, x, y)) continue;
        changed++;
        expect([x >= 21 && x < 75, y >= 39 && y < 80]).toEqual([true, true]);
      }
    }
    expect(changed).toBeGreaterThan(200);
  });

  test('a frame without a face is not taken, and does not shift the faces after it', async () => {
    const outputs = [SPEAKING - 1, SPEAKING, SPEAKING + 1];
    const clip = open({ [SPEAKING - 1]: 2, [SPEAKING]: 3, [SPEAKING + 1]: 4 });
    const batch = clip.newBatch();
    const frames = outputs.map(() => picture());
    const slots = frames.map((frame, i) => batch.take(frame, outputs[i] ?? 0));
    expect(slots).toEqual([0, null, 1]);
    expect(batch.size).toBe(2);
    const faces = await batch.infer();
    const last = frames[2] ?? picture();
    faces.put(1, last);
    expect(last).toEqual(await render(clip, SPEAKING + 1));
    expect(frames[1]).toEqual(picture());
  });

  test('an incomplete batch is padded: the graphs see one shape only', async () => {
    const clip = open();
    await render(clip, SPEAKING);
    expect(shapes).toEqual([
      'vae_encoder 8',
      'vae_encoder 8',
      'whisper_encoder 1',
      'unet 8,1,8,8',
      'vae_decoder 8',
    ]);
  });

  test('the pack sets the batch size, the timestep and the position of the crop', async () => {
    // As MuseTalk 1.0 was used: no margin under the chin, and the generated half starting three pixels lower.
    const params = { ...pack.manifest.params, batch: 3, timestep: 7, crop: { shift: 3, margin: 0 } };
    engine = createMusetalk({ ...pack, manifest: { ...pack.manifest, params } }, run);
    await render(open(), SPEAKING);
    const ofFaces = shapes.filter((shape) => shape !== 'whisper_encoder 1');
    expect(ofFaces).toEqual(['vae_encoder 3', 'vae_encoder 3', 'unet 3,1,3,3', 'vae_decoder 3']);
    expect(fed['timestep']?.data).toEqual(BigInt64Array.of(7n));
    // The nose bridge is at row 39, the chin at 72: the crop's middle at 42, its height 60.
    const { resolution } = params;
    const landmarks = fed['landmarks']?.data ?? [];
    expect(Number(landmarks[29 * 2 + 1])).toBeCloseTo(((39 - 12) / 60) * resolution, 2);
    expect(Number(landmarks[8 * 2 + 1])).toBeCloseTo(resolution, 2);
  });

  test('recycled memory does not leak one batch into the next', async () => {
    const clip = open();
    const alone = await render(clip, SILENT);
    for (let round = 0; round < 3; round++) {
      const batch = clip.newBatch();
      for (let i = 0; i < clip.batchSize; i++) batch.take(picture().fill(round * 40), SPEAKING + i);
      (await batch.infer()).recycle();
    }
    expect(await render(clip, SILENT)).toEqual(alone);
  });

  test('two batches may be in flight at once', async () => {
    const clip = open();
    const alone = [await render(clip, SPEAKING), await render(clip, SILENT)];
    expect(await Promise.all([render(clip, SPEAKING), render(clip, SILENT)])).toEqual(alone);
  });

  test('silence is heard where the picture outlasts the sound, and zeros only beyond the end of the picture', async () => {
    const ones: RunModel = async (role, feeds) => {
      const result = await run(role, feeds);
      const states = result.outputs['states'];
      if (states?.type === 'float32') states.data.fill(1);
      return result;
    };
    const { params } = pack.manifest;
    const audio = { ...params.audio, positionalEncoding: 'inside' as const };
    engine = createMusetalk({ ...pack, manifest: { ...pack.manifest, params: { ...params, audio } } }, ones);
    const clip = open();
    const heard = async (output: number): Promise<number[]> => {
      await render(clip, output);
      const audioFed = fed['audio'];
      if (!audioFed) throw new Error('the generator was fed no sound');
      const { data, dims } = audioFed;
      return Array.from(data, Number).slice(
        0,
        dims.slice(1).reduce((all, dim) => all * dim, 1),
      );
    };
    expect(new Set(await heard(2000))).toEqual(new Set([1]));
    // The last frame's window reaches 80 ms, four of its ten steps, beyond its end.
    const last = await heard(5000);
    expect(last.filter((value) => value === 0)).toHaveLength(0.4 * last.length);
  });

  test('faces report their enlargement: the longer side of the crop over the generated side', async () => {
    // The nose bridge is at row 39 and the chin at 72, with a margin of ten pixels, of which the picture has eight.
    const { resolution } = pack.manifest.params;
    expect(open().enlargement(SPEAKING)).toBeCloseTo(74 / resolution, 2);
  });
});
