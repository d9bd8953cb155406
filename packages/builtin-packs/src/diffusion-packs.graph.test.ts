import { type FaceShape, restoreOutside } from '@lipsync/engines/test';
import { floats, guidedLoop, loadTestGraph, type TestGraph, time } from '@lipsync/engines/test/graphs';
import { BLOCK, decoderModel, encoderModel, LATENT_CHANNELS, LATENT_SCALE } from './autoencoder';
import { WIDTH } from './hearing/audio-encoder';
import * as highsync from './highsync';
import * as latentsync from './latentsync';
import {
  allOf,
  type Cues,
  darkness,
  difference,
  exemplarFeeds,
  type Frame,
  lowerLipEdge,
  paintedFace,
  paintedFrame,
  swapped,
} from './test/drawn-faces';

type Graphs<K extends string> = Readonly<Record<K, TestGraph>>;
type Predict = (at: number, latent: Float32Array) => Promise<Float32Array>;

/** The predictions of a window's networks for a noisy latent at a timestep. */
interface Predictions {
  /** Without sound, and with the frames' own. */
  readonly without: Predict;
  readonly given: Predict;
}

interface Engine<K extends string> {
  readonly pack: typeof latentsync | typeof highsync;
  /** Cells along a side of the latent. */
  readonly cells: number;
  /** Cells outside which the sampler restores the frames' latents; everywhere the network's answer counts without. */
  readonly mask?: typeof highsync.MASK;
  readonly models: () => Readonly<Record<K, Uint8Array>>;
  readonly face: FaceShape;
  /** Frames that the network sees at once; the last frame is repeated for missing ones. */
  readonly window: number;
  readonly predictions: (
    graphs: Graphs<K>,
    frames: readonly Frame[],
    /** Scaled latents of the frames, [frames, C, cells] and [C, frames, cells]. */
    latents: Float32Array,
    reference: Float32Array,
  ) => Promise<Predictions>;
}

const LATENTSYNC: Engine<'unet'> = {
  pack: latentsync,
  cells: latentsync.RESOLUTION / BLOCK,
  models: () => ({ unet: latentsync.unet3dModel(latentsync.SCHEDULE, latentsync.GUIDANCE) }),
  // In an aligned face the mouth is smaller than in a tight crop.
  face: { side: latentsync.RESOLUTION, x: 192, y: 225, half: 42 },
  window: 3,
  async predictions({ unet }, frames, _latents, reference) {
    const { cells } = LATENTSYNC;
    const audio = allOf(frames, 'audio');
    const landmarks = allOf(frames, 'landmarks');
    const predict = (at: number, latent: Float32Array, heard: Float32Array) => {
      const input = new Float32Array(latentsync.INPUT_CHANNELS * frames.length * cells * cells);
      input.set(latent);
      input.set(reference, input.length - reference.length);
      return unet.run({
        latent: floats(input, [1, latentsync.INPUT_CHANNELS, frames.length, cells, cells]),
        timestep: time(at),
        audio: floats(heard, [frames.length, 50, WIDTH]),
        landmarks: floats(landmarks, [frames.length, 68, 2]),
        ...exemplarFeeds(),
      });
    };
    const silence = new Float32Array(audio.length);
    return {
      without: (at, latent) => predict(at, latent, silence),
      given: (at, latent) => predict(at, latent, audio),
    };
  },
};

const HIGHSYNC: Engine<'reference' | 'conditional' | 'unconditional'> = {
  pack: highsync,
  cells: highsync.LATENT_SIDE,
  mask: highsync.MASK,
  models: () => ({
    reference: highsync.referenceUnetModel(),
    conditional: highsync.denoisingUnetModel(highsync.SCHEDULE, highsync.GUIDANCE),
    unconditional: highsync.unconditionalUnetModel(highsync.SCHEDULE),
  }),
  face: { side: highsync.RESOLUTION, x: 224, y: 315, half: 60 },
  window: highsync.WINDOW,
  async predictions(graphs, frames, latents) {
    const { length } = frames;
    const { cells } = HIGHSYNC;
    const bank = await graphs.reference.run({
      latent: floats(latents, [length, LATENT_CHANNELS, cells, cells]),
    });
    const audio = allOf(frames, 'audio');
    const common = (at: number, latent: Float32Array, heard: Float32Array) => ({
      latent: floats(latent, [1, LATENT_CHANNELS, length, cells, cells]),
      timestep: time(at),
      audio: floats(heard, [1, length, 50, WIDTH]),
    });
    return {
      without: (at, latent) => graphs.unconditional.run(common(at, latent, new Float32Array(audio.length))),
      given: (at, latent) =>
        graphs.conditional.run({
          ...common(at, latent, audio),
          bank_0: floats(bank, [length, ...highsync.BANK_SHAPE]),
          landmarks: floats(allOf(frames, 'landmarks'), [1, length, 68, 2]),
          ...exemplarFeeds(),
        }),
    };
  },
};

describeEngine('latentsync', LATENTSYNC);
describeEngine('highsync', HIGHSYNC);

function describeEngine<K extends string>(name: string, engine: Engine<K>): void {
  const { face, window, cells, mask } = engine;
  const { side } = face;
  const area = cells * cells;
  const { SCHEDULE, GUIDANCE } = engine.pack;
  const frame = (gap: number, cues: Cues): Frame => paintedFrame(face, gap, cues);

  describe(`the built-in networks of ${name}`, () => {
    const loaded: TestGraph[] = [];
    let graphs: Graphs<K>;
    let encoder: TestGraph;
    let decoder: TestGraph;
    const load = async (model: Uint8Array): Promise<TestGraph> => {
      const graph = await loadTestGraph(model);
      loaded.push(graph);
      return graph;
    };
    beforeAll(async () => {
      encoder = await load(encoderModel(side));
      decoder = await load(decoderModel(side));
      const models = Object.entries<Uint8Array>(engine.models());
      const entries = models.map(async ([role, model]) => [role, await load(model)] as const);
      graphs = Object.fromEntries(await Promise.all(entries)) as Graphs<K>; // the keys are those of the models
    });
    afterAll(() => Promise.all(loaded.map((graph) => graph.release())));

    /** Denoises a window of frames in four steps, as the engine does, and decodes their pictures. */
    async function render(some: readonly Frame[]): Promise<Float32Array[]> {
      const frames = Array.from(
        { length: window },
        (_, i) => some[Math.min(i, some.length - 1)] ?? frame(0, {}),
      );
      const encoded = await encoder.run({ image: floats(allOf(frames, 'picture'), [window, 3, side, side]) });
      const latents = encoded.map((value) => value * LATENT_SCALE);
      const reference = swapped(latents, window, area);
      const { without, given } = await engine.predictions(graphs, frames, latents, reference);
      const passed = await guidedLoop(SCHEDULE, GUIDANCE, reference.length, async (at, latent) => [
        await without(at, latent),
        await given(at, latent),
      ]);
      const clean = swapped(passed.at(-1) ?? reference, LATENT_CHANNELS, area);
      if (mask) {
        const shape = { channels: LATENT_CHANNELS, height: cells, width: cells, scale: LATENT_SCALE };
        const size = LATENT_CHANNELS * area;
        for (let at = 0; at < clean.length; at += size)
          restoreOutside(clean.subarray(at, at + size), latents.subarray(at, at + size), shape, mask);
      }
      const unscaled = clean.map((value) => value / LATENT_SCALE);
      const images = await decoder.run({ latent: floats(unscaled, [window, LATENT_CHANNELS, cells, cells]) });
      const size = 3 * side * side;
      return some.map((_, i) => images.slice(i * size, (i + 1) * size));
    }

    test('silence keeps closed lips exactly as they are, and closes an open mouth', async () => {
      const [still = NONE, closed = NONE] = await render([frame(0, {}), frame(14, {})]);
      expect(difference(still, paintedFace(face, 0), side)).toBeLessThan(1e-4);
      expect(darkness(paintedFace(face, 14), face)).toBeGreaterThan(10);
      expect(darkness(closed, face)).toBe(0);
    });

    test('each frame opens its mouth as its own audio calls for, and changes nothing around it', async () => {
      const pictures = await render([1, 0, 0.5].map((jaw) => frame(0, { jaw })));
      const [wide = NaN, shut = NaN, half = NaN] = pictures.map((picture) => lowerLipEdge(picture, face));
      expect(shut).toBe(lowerLipEdge(paintedFace(face, 0), face));
      expect(half).toBeGreaterThan(shut + 1);
      expect(wide).toBeGreaterThan(half + 1);
      const outside = (x: number, y: number) =>
        y < 0.4 * side || y >= 0.97 * side || x < 0.07 * side || x >= 0.93 * side;
      expect(difference(pictures[0] ?? NONE, paintedFace(face, 0), side, outside)).toBeLessThan(1e-4);
    });
  });
}

const NONE = Float32Array.of(NaN);
