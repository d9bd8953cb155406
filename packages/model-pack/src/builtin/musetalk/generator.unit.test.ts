/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { positionalEncoding } from '@lipsync/lipsync';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { decoderModel, encoderModel } from './autoencoder';
import { generatorModel } from './generator';
import { LATENT_CHANNELS, LATENT_SCALE } from './latent-blocks';
import { CUE_STATE, CUES, STATES, WIDTH } from './speech-cues';

const SIDE = 256;
const AREA = SIDE * SIDE;
const MOUTH = { x: 128, y: 185, half: 40 };

type Point = readonly [number, number];

/** A frontal face with closed lips, turned by `angle` about its mouth; `gap` parts the lips (pixels). */
function landmarks(gap: number, angle = 0): Float32Array {
  const points: Point[] = [];
  for (let i = 0; i <= 16; i++) {
    const turn = Math.PI * (1 - i / 16);
    points.push([128 + 112 * Math.cos(turn), 120 + 126 * Math.sin(turn)]);
  }
  for (let i = 0; i < 10; i++) points.push([60 + i * 15, 55]);
  for (let i = 0; i < 4; i++) points.push([128, 80 + i * 20]);
  for (let i = -2; i <= 2; i++) points.push([128 + i * 9, 150]);
  for (const eye of [85, 171])
    for (const [x, y] of [
      [-14, 0],
      [-6, -5],
      [6, -5],
      [14, 0],
      [6, 5],
      [-6, 5],
    ] as const)
      points.push([eye + x, 75 + y]);
  const lip = (xs: readonly number[], lift: number) => {
    for (const x of xs) points.push([MOUTH.x + x * MOUTH.half, MOUTH.y + lift * (1 - x * x)]);
  };
  lip([-1, -0.65, -0.3, 0, 0.3, 0.65, 1], -12 - gap / 2);
  lip([0.65, 0.3, 0, -0.3, -0.65], 15 + gap / 2);
  lip([-0.85, -0.4, 0, 0.4, 0.85], -gap / 2);
  lip([0.4, 0, -0.4], gap / 2);
  return Float32Array.from(points.flatMap(([x, y]) => turned(x, y, angle)));
}

function turned(x: number, y: number, angle: number): [number, number] {
  const dx = x - MOUTH.x;
  const dy = y - MOUTH.y;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return [MOUTH.x + dx * cos - dy * sin, MOUTH.y + dx * sin + dy * cos];
}

/** Light skin, redder lips, black between parted lips: brightness tells where things went. */
function picture(gap: number, angle = 0): Float32Array {
  const image = new Float32Array(3 * AREA);
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      const [fx, fy] = turned(x + 0.5, y + 0.5, -angle);
      const u = (fx - MOUTH.x) / MOUTH.half;
      const shape = Math.max(0, 1 - u * u);
      const inside = Math.abs(fy - MOUTH.y) < (gap / 2) * shape;
      const onLips = Math.abs(fy - MOUTH.y - 1.5) < (13.5 + gap / 2) * shape;
      const colour = inside
        ? [-1, -1, -1]
        : onLips
          ? [0.4, -0.2, -0.1]
          : [0.6 + 0.1 * Math.sin(x / 9), 0.3, 0.1];
      colour.forEach((value, channel) => (image[channel * AREA + y * SIDE + x] = value));
    }
  }
  return image;
}

/** A window in which every step carries the same cues, coded as the engine codes it. */
function audio(cues: Partial<Record<(typeof CUES)[number], number>>): Float32Array {
  const window = positionalEncoding(10 * STATES, WIDTH);
  CUES.forEach((name, i) => {
    for (let step = 0; step < 10; step++) {
      const at = (step * STATES + CUE_STATE) * WIDTH + i;
      window[at] = (window[at] ?? 0) + (cues[name] ?? 0);
    }
  });
  return window;
}

let encoder: InferenceSession;
let generator: InferenceSession;
let decoder: InferenceSession;
beforeAll(async () => {
  encoder = await InferenceSession.create(encoderModel());
  generator = await InferenceSession.create(generatorModel());
  decoder = await InferenceSession.create(decoderModel());
});
afterAll(() => Promise.all([encoder, generator, decoder].map((session) => session.release())));

async function only(
  session: InferenceSession,
  feeds: Record<string, Tensor>,
): Promise<Float32Array<ArrayBuffer>> {
  const [output] = Object.values(await session.run(feeds));
  if (!(output?.data instanceof Float32Array)) throw new TypeError('one float32 output expected');
  return Float32Array.from(output.data);
}

const encode = (image: Float32Array) =>
  only(encoder, { image: new Tensor('float32', image, [1, 3, SIDE, SIDE]) });

/** What the engine does with one face: both latents, one step of the generator, decoded. */
async function generate(
  image: Float32Array,
  points: Float32Array,
  window: Float32Array,
): Promise<Float32Array> {
  const masked = image.map((value, i) => (i % AREA < AREA / 2 ? value : -1));
  const both = new Float32Array(2 * LATENT_CHANNELS * 1024);
  both.set(await encode(masked), 0);
  both.set(await encode(image), LATENT_CHANNELS * 1024);
  const clean = await only(generator, {
    latent: new Tensor(
      'float32',
      both.map((value) => value * LATENT_SCALE),
      [1, 2 * LATENT_CHANNELS, 32, 32],
    ),
    timestep: new Tensor('int64', BigInt64Array.of(0n), [1]),
    audio: new Tensor('float32', window, [1, 50, WIDTH]),
    landmarks: new Tensor('float32', points, [1, 68, 2]),
  });
  return only(decoder, {
    latent: new Tensor(
      'float32',
      clean.map((value) => value / LATENT_SCALE),
      [1, LATENT_CHANNELS, 32, 32],
    ),
  });
}

function difference(a: Float32Array, b: Float32Array, where: (x: number, y: number) => boolean): number {
  let worst = 0;
  for (let i = 0; i < a.length; i++) {
    const pixel = i % AREA;
    if (where(pixel % SIDE, Math.floor(pixel / SIDE)))
      worst = Math.max(worst, Math.abs((a[i] ?? NaN) - (b[i] ?? NaN)));
  }
  return worst;
}

/** Length of the dark stretch through the mouth's centre, along the face's own vertical; pixels. */
function darkness(image: Float32Array, angle = 0): number {
  let dark = 0;
  for (let d = -45; d <= 45; d += 0.5) {
    const [x, y] = turned(MOUTH.x, MOUTH.y + d, angle);
    if ((image[Math.floor(y) * SIDE + Math.floor(x)] ?? 0) < -0.2) dark += 0.5;
  }
  return dark;
}

test('the autoencoder loses nothing', async () => {
  const image = picture(14, 0.2);
  const back = await only(decoder, {
    latent: new Tensor('float32', await encode(image), [1, LATENT_CHANNELS, 32, 32]),
  });
  expect(back).toEqual(image);
});

test('in silence closed lips stay exactly where they are', async () => {
  const image = picture(0);
  expect(difference(await generate(image, landmarks(0), audio({})), image, () => true)).toBeLessThan(2e-3);
});

test('speech opens the lips at the mouth; the louder, the wider', async () => {
  const image = picture(0);
  const openings = [];
  for (const opening of [0, 0.3, 0.6, 1])
    openings.push(darkness(await generate(image, landmarks(0), audio({ opening }))));
  expect(openings[0]).toBe(0);
  expect(openings[2]).toBeGreaterThan((openings[1] ?? NaN) + 2);
  expect(openings[3]).toBeGreaterThan((openings[2] ?? NaN) + 2);
  expect(openings[3]).toBeLessThan(35);
});

test('an open mouth harms neither the upper half nor nose, cheeks and the rim of the crop', async () => {
  const image = picture(0);
  const open = await generate(image, landmarks(0), audio({ opening: 1 }));
  expect(difference(open, image, (_, y) => y < SIDE / 2)).toBeLessThan(1e-6);
  expect(difference(open, image, (_, y) => y < 148)).toBeLessThan(2e-3);
  expect(difference(open, image, (x) => x < 40 || x >= 216)).toBeLessThan(2e-3);
  expect(difference(open, image, (_, y) => y >= 247)).toBeLessThan(2e-3);
});

test('old speech is undone: an open source mouth is closed in silence', async () => {
  const image = picture(18);
  expect(darkness(image)).toBeGreaterThan(15);
  expect(darkness(await generate(image, landmarks(18), audio({})))).toBe(0);
});

test('the opening follows the new speech whether the source mouth was open or closed', async () => {
  const loud = audio({ opening: 0.8 });
  const fromClosed = darkness(await generate(picture(0), landmarks(0), loud));
  const fromOpen = darkness(await generate(picture(18), landmarks(18), loud));
  expect(Math.abs(fromClosed - fromOpen)).toBeLessThan(4);
});

test('a tilted head opens its mouth along its own axis', async () => {
  const angle = 0.45;
  const tilted = await generate(picture(0, angle), landmarks(0, angle), audio({ opening: 1 }));
  const upright = await generate(picture(0), landmarks(0), audio({ opening: 1 }));
  expect(Math.abs(darkness(tilted, angle) - darkness(upright))).toBeLessThan(4);
});

test('rounding narrows the mouth', async () => {
  const lipsAt = (image: Float32Array) =>
    Array.from({ length: SIDE }, (_, x) => image[AREA + (MOUTH.y + 3) * SIDE + x] ?? 0).filter(
      (green) => green < 0,
    ).length;
  const image = picture(0);
  const round = await generate(image, landmarks(0), audio({ rounding: 1 }));
  expect(lipsAt(round)).toBeLessThan(lipsAt(image) - 5);
});

test('faces of a batch do not influence each other', async () => {
  const image = picture(0);
  const alone = await generate(image, landmarks(0), audio({ opening: 1 }));
  const latent = new Float32Array(2 * 2 * LATENT_CHANNELS * 1024);
  const encoded = await encode(image);
  const masked = await encode(image.map((value, i) => (i % AREA < AREA / 2 ? value : -1)));
  [masked, encoded].forEach((part, k) => {
    latent.set(
      part.map((value) => value * LATENT_SCALE),
      (2 + k) * LATENT_CHANNELS * 1024,
    );
  });
  const windows = new Float32Array(2 * 50 * WIDTH);
  windows.set(audio({ opening: 1 }), 50 * WIDTH);
  const points = new Float32Array(2 * 136);
  points.set(landmarks(0), 136);
  const clean = await only(generator, {
    latent: new Tensor('float32', latent, [2, 2 * LATENT_CHANNELS, 32, 32]),
    timestep: new Tensor('int64', BigInt64Array.of(0n), [1]),
    audio: new Tensor('float32', windows, [2, 50, WIDTH]),
    landmarks: new Tensor('float32', points, [2, 68, 2]),
  });
  const second = clean.slice(LATENT_CHANNELS * 1024).map((value) => value / LATENT_SCALE);
  expect(difference(second, await encode(alone), () => true)).toBeLessThan(1e-5);
});
