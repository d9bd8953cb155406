/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import {
  commonNetworks,
  highsyncUnets,
  latentsyncUnet,
  musetalkUnet,
  type Network,
  type NetworkSize,
  PUBLISHED,
} from './networks';
import { writeUntrainedHighsync } from './untrained-highsync';
import { writeUntrainedLatentsync } from './untrained-latentsync';
import { writeUntrainedMusetalk } from './untrained-musetalk';
import { type HighsyncParams, type LatentsyncParams, openPack } from '@lipsync/engines';
import { encodeModel } from '@lipsync/model-pack';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { InferenceSession, Tensor } from 'onnxruntime-node';

const SMALL: NetworkSize = {
  resolution: 64,
  whisper: { width: 16, heads: 2, blocks: 2 },
  autoencoder: [32, 32, 64, 64],
  unet: [32, 64, 64, 64],
  heads: 4,
};
const SIDE = 8;
const LATENT = { channels: 4, height: SIDE, width: SIDE, scale: 0.18215 };
const SCHEDULE: HighsyncParams['schedule'] = {
  ...{ trainSteps: 1000, betaStart: 0.00085, betaEnd: 0.012 },
  ...{ betaSchedule: 'scaled_linear', prediction: 'epsilon', spacing: 'leading', finalAlpha: 'first' },
  ...{ stepsOffset: 1, zeroTerminalSnr: false, steps: 20 },
};
const AUDIO: HighsyncParams['audio'] = { whisper: 'openai', states: 3, width: 16 };
const LATENTSYNC: LatentsyncParams = {
  ...{ resolution: 64, latent: LATENT, audio: AUDIO, schedule: SCHEDULE },
  ...{ window: 16, guidance: 1.5, seed: 1247, mask: { size: 256, spans: [[128, 64, 191]] } },
};
const WINDOW = 3;
const MASK = { top: 2, bottom: 7, left: 0, right: 5 };
const HIGHSYNC: HighsyncParams = {
  ...{ resolution: 64, latent: LATENT, audio: AUDIO, schedule: SCHEDULE },
  ...{ window: WINDOW, overlap: 1, guidance: 3.5, seed: 42, mask: MASK, stretch: 12 },
};

test('the networks have as many weights as the published ones', () => {
  const { whisper_encoder, vae_encoder, vae_decoder } = commonNetworks(PUBLISHED.musetalk);
  expect(whisper_encoder.weights.count).toBe(8_208_384);
  expect(vae_encoder.weights.count + vae_decoder.weights.count).toBe(83_653_863);
  expect(musetalkUnet(PUBLISHED.musetalk).weights.count).toBe(849_947_844);
  expect(latentsyncUnet(PUBLISHED.latentsync).weights.count).toBe(1_267_099_844);
  const { reference, denoising, unconditional } = highsyncUnets(PUBLISHED.highsync, HIGHSYNC);
  expect(denoising.weights.count).toBe(1_303_145_604);
  expect(unconditional.weights.count).toBe(1_303_145_604);
  expect(reference.weights.count + unusedByReference()).toBe(859_520_964);
});

/** Number of weights in Stable Diffusion's UNet that no bank depends on. */
function unusedByReference(): number {
  const read = (c: number): number => c * c + 2 * 768 * c + c * c + c + 2 * c;
  const reading = 5 * read(320) + 5 * read(640) + 6 * read(1280);
  const c = 320;
  const behindLastBank = 4 * c * c + c + 2 * c + (8 * c * c + 8 * c + 4 * c * c + c) + (c * c + c);
  return reading + behindLastBank + 2 * c + (4 * 9 * c + 4);
}

describe('a small one', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'full-size-'));
  });
  afterAll(() => rm(folder, { recursive: true }));
  const sessions: InferenceSession[] = [];
  afterEach(() => Promise.all(sessions.splice(0).map((session) => session.release())));

  async function load({ graph, weights }: Network): Promise<InferenceSession> {
    const file = path.join(folder, `${graph.name}.onnx`);
    await writeFile(file, encodeModel(graph));
    await weights.write(path.join(folder, weights.name));
    const session = await InferenceSession.create(file);
    sessions.push(session);
    return session;
  }

  async function answer(session: InferenceSession, feeds: Record<string, Tensor>): Promise<Float32Array> {
    const [output] = Object.values(await session.run(feeds));
    if (!(output?.data instanceof Float32Array)) throw new TypeError('float32 is expected');
    return output.data;
  }

  /** Plausible inputs for a network, starting at index `first`. */
  const wave = (dims: readonly number[], first = 0): Tensor => {
    const length = dims.reduce((product, dim) => product * dim, 1);
    return new Tensor(
      'float32',
      Float32Array.from({ length }, (_, i) => Math.sin(first + i)),
      dims,
    );
  };
  const timestep = new Tensor('int64', BigInt64Array.of(501n), [1]);
  const size = (values: Float32Array): number =>
    Math.sqrt(values.reduce((sum, value) => sum + value * value, 0) / values.length);

  test.each([
    ['whisper_encoder', 'mel', [1, 80, 3000]],
    ['vae_encoder', 'image', [2, 3, 64, 64]],
    ['vae_decoder', 'latent', [2, 4, SIDE, SIDE]],
  ] as const)('has outputs of an ordinary magnitude, like a trained one: %s', async (name, input, dims) => {
    const session = await load(commonNetworks(SMALL)[name]);
    const values = await answer(session, { [input]: wave(dims) });
    expect(size(values)).toBeGreaterThan(0.01);
    expect(size(values)).toBeLessThan(100);
  });

  test('that generates pictures makes each from its own latent and its own audio', async () => {
    const session = await load(musetalkUnet(SMALL));
    const ask = (latent: Tensor, audio: Tensor) => answer(session, { latent, timestep, audio });
    const [latent, audio] = [wave([2, 8, SIDE, SIDE]), wave([2, 30, 16])];
    const both = await ask(latent, audio);
    expect(size(both)).toBeGreaterThan(0.01);
    expect(size(both)).toBeLessThan(100);
    const half = both.length / 2;
    const heardOtherwise = await ask(latent, new Tensor('float32', secondNegated(audio), audio.dims));
    expect(distance(both.subarray(0, half), heardOtherwise.subarray(0, half))).toBeLessThan(1e-5);
    expect(distance(both.subarray(half), heardOtherwise.subarray(half))).toBeGreaterThan(1e-4);
  });

  test.each([
    ['musetalk', () => writeUntrainedMusetalk(path.join(folder, 'musetalk'), SMALL)],
    ['latentsync', () => writeUntrainedLatentsync(path.join(folder, 'latentsync'), SMALL, LATENTSYNC)],
    ['highsync', () => writeUntrainedHighsync(path.join(folder, 'highsync'), SMALL, HIGHSYNC)],
  ])('makes a pack that verifies, with the tensors that the engine feeds: %s', async (engine, write) => {
    const { manifest, dir } = await write();
    expect(manifest.engine).toBe(engine);
    expect((await openPack(dir)).manifest).toEqual(manifest);
  });

  test('that generates clips lets each picture attend to the others, for any number of frames', async () => {
    const session = await load(latentsyncUnet(SMALL));
    const ask = (latent: Tensor, audio: Tensor) => answer(session, { latent, timestep, audio });
    const [latent, audio] = [wave([1, 13, 2, SIDE, SIDE]), wave([2, 30, 16])];
    const film = await ask(latent, audio);
    expect(film).toHaveLength(4 * 2 * SIDE * SIDE);
    expect(size(film)).toBeGreaterThan(0.01);
    expect(size(film)).toBeLessThan(100);
    const heardOtherwise = await ask(latent, new Tensor('float32', secondNegated(audio), audio.dims));
    const firstPicture = (values: Float32Array) =>
      values.filter((_, i) => Math.floor(i / SIDE ** 2) % 2 === 0);
    expect(distance(firstPicture(film), firstPicture(heardOtherwise))).toBeGreaterThan(1e-4);
    expect(await ask(wave([1, 13, 5, SIDE, SIDE]), wave([5, 30, 16]))).toHaveLength(4 * 5 * SIDE * SIDE);
  });

  test('that denoises attends to every bank of the reference network, except in the unconditional variant', async () => {
    const { reference, denoising, unconditional } = highsyncUnets(SMALL, HIGHSYNC);
    const banks = await (await load(reference)).run({ latent: wave([WINDOW, 4, SIDE, SIDE]) });
    expect(Object.keys(banks)).toHaveLength(16);
    const feeds = {
      ...{ latent: wave([1, 4, WINDOW, SIDE, SIDE], 1), timestep },
      audio: wave([1, WINDOW, 30, 16]),
    };
    const session = await load(denoising);
    const predicted = await answer(session, { ...feeds, ...banks });
    expect(predicted).toHaveLength(4 * WINDOW * SIDE * SIDE);
    expect(size(predicted)).toBeGreaterThan(0.01);
    expect(size(predicted)).toBeLessThan(100);
    for (const [name, bank] of Object.entries(banks)) {
      const other = new Tensor('float32', secondNegated(bank), bank.dims);
      const otherwise = await answer(session, { ...feeds, ...banks, [name]: other });
      expect(distance(predicted, otherwise)).toBeGreaterThan(1e-5);
    }
    const alone = await answer(await load(unconditional), feeds);
    expect(distance(predicted, alone)).toBeGreaterThan(1e-4);
  });

  test('that denoises lets pictures attend to each other inside the mask, and nowhere else', async () => {
    const predict = async (mask: HighsyncParams['mask'], audio: Tensor) => {
      const { unconditional } = highsyncUnets(SMALL, { window: WINDOW, mask });
      return answer(await load(unconditional), {
        ...{ latent: wave([1, 4, WINDOW, SIDE, SIDE]), timestep, audio },
      });
    };
    const firstPicture = (values: Float32Array) =>
      values.filter((_, i) => Math.floor(i / SIDE ** 2) % WINDOW === 0);
    const audio = wave([1, WINDOW, 30, 16]);
    const otherwise = new Tensor('float32', secondNegated(audio), audio.dims);
    const change = async (mask: HighsyncParams['mask']) =>
      distance(firstPicture(await predict(mask, audio)), firstPicture(await predict(mask, otherwise)));
    expect(await change(MASK)).toBeGreaterThan(1e-4);
    expect(await change({ top: 0, bottom: -1, left: 0, right: -1 })).toBeLessThan(1e-6);
  });
});

function secondNegated({ data }: Tensor): Float32Array {
  if (!(data instanceof Float32Array)) throw new TypeError('float32 is expected');
  return data.map((value, i) => (i < data.length / 2 ? value : -value));
}

function distance(a: Float32Array, b: Float32Array): number {
  return a.reduce((largest, value, i) => Math.max(largest, Math.abs(value - (b[i] ?? NaN))), 0);
}
