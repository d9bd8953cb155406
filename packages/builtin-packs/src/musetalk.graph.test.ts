import { EXEMPLAR_BYTES, NOSE_TIP } from '@lipsync/engines';
import { LARGE_FACE, paintedLandmarks } from '@lipsync/engines/test';
import { floats, loadTestGraph, type TestGraph, time } from '@lipsync/engines/test/graphs';
import { decoderModel, encoderModel, LATENT_CHANNELS, LATENT_SCALE } from './autoencoder';
import { WIDTH } from './hearing/audio-encoder';
import { NOSE_BASE } from './mouth/lips';
import { generatorModel } from './musetalk';
import {
  type Cues,
  cueWindow,
  darkness,
  difference,
  exemplarFeeds,
  lipWidth,
  lowerLipEdge,
  paintedExemplars,
  paintedFace,
} from './test/drawn-faces';

const { side: SIDE } = LARGE_FACE;
const AREA = SIDE * SIDE;
/** A row between the nose and the upper lip. */
const UPPER_LIP = 160;
const LATENT = LATENT_CHANNELS * 1024;

const picture = (gap: number, angle = 0) => paintedFace(LARGE_FACE, gap, angle);
const landmarks = (gap: number, angle = 0) => paintedLandmarks(LARGE_FACE, gap, angle);
const audio = (cues: Cues) => cueWindow(cues, 'added');
const open = (image: Float32Array, angle = 0) => darkness(image, LARGE_FACE, angle);

let encoder: TestGraph;
let generator: TestGraph;
let decoder: TestGraph;
beforeAll(async () => {
  encoder = await loadTestGraph(encoderModel(SIDE));
  generator = await loadTestGraph(generatorModel(SIDE));
  decoder = await loadTestGraph(decoderModel(SIDE));
});
afterAll(() => Promise.all([encoder, generator, decoder].map((graph) => graph.release())));

const scaled = (latent: Float32Array, factor: number) => latent.map((value) => value * factor);

/** Scaled latents of the crop without and with its lower half, as the engine computes them. */
async function latents(image: Float32Array): Promise<Float32Array> {
  const masked = image.map((value, i) => (i % AREA < AREA / 2 ? value : -1));
  const both = new Float32Array(2 * LATENT);
  for (const [i, part] of [masked, image].entries()) {
    const encoded = await encoder.run({ image: floats(part, [1, 3, SIDE, SIDE]) });
    both.set(scaled(encoded, LATENT_SCALE), i * LATENT);
  }
  return both;
}

const decode = (clean: Float32Array) =>
  decoder.run({ latent: floats(scaled(clean, 1 / LATENT_SCALE), [1, LATENT_CHANNELS, 32, 32]) });

/** What the engine does with one face: both latents, one step of the generator, decoding. */
async function generate(
  image: Float32Array,
  points: Float32Array,
  window: Float32Array,
  mouths?: ReturnType<typeof paintedExemplars>,
): Promise<Float32Array> {
  const clean = await generator.run({
    latent: floats(await latents(image), [1, 2 * LATENT_CHANNELS, 32, 32]),
    timestep: time(0),
    audio: floats(window, [1, 50, WIDTH]),
    landmarks: floats(points, [1, 68, 2]),
    ...exemplarFeeds(mouths),
  });
  return decode(clean);
}

test('closed lips stay exactly where they are in silence', async () => {
  const image = picture(0);
  expect(difference(await generate(image, landmarks(0), audio({})), image, SIDE)).toBeLessThan(1e-5);
});

test('speech opens the lips, wider if louder', async () => {
  const image = picture(0);
  const openings = [];
  for (const jaw of [0, 0.3, 0.6, 1])
    openings.push(lowerLipEdge(await generate(image, landmarks(0), audio({ jaw })), LARGE_FACE));
  expect(openings[0]).toBe(lowerLipEdge(image, LARGE_FACE));
  expect(openings[1]).toBeGreaterThan((openings[0] ?? NaN) + 2);
  expect(openings[2]).toBeGreaterThan((openings[1] ?? NaN) + 2);
  expect(openings[3]).toBeGreaterThan((openings[2] ?? NaN) + 2);
  expect(openings[3]).toBeLessThan((openings[0] ?? NaN) + 20);
});

test('an open mouth changes neither the upper half nor nose, cheeks and the rim of the crop', async () => {
  const image = picture(0);
  const wide = await generate(image, landmarks(0), audio({ jaw: 1 }));
  expect(difference(wide, image, SIDE, (_, y) => y < 148)).toBeLessThan(1e-5);
  expect(difference(wide, image, SIDE, (x) => x < 40 || x >= 216)).toBeLessThan(1e-5);
  expect(difference(wide, image, SIDE, (_, y) => y >= 247)).toBeLessThan(2e-3);
});

test('the opening follows the new speech, whether the mouth in the source was open or closed', async () => {
  const loud = audio({ jaw: 0.8 });
  const fromClosed = open(await generate(picture(0), landmarks(0), loud));
  const fromOpen = open(await generate(picture(18), landmarks(18), loud));
  expect(Math.abs(fromClosed - fromOpen)).toBeLessThan(4);
});

test('a tilted head opens its mouth along its own axis', async () => {
  const angle = 0.45;
  const tilted = await generate(picture(0, angle), landmarks(0, angle), audio({ jaw: 1 }));
  const upright = await generate(picture(0), landmarks(0), audio({ jaw: 1 }));
  expect(Math.abs(open(tilted, angle) - open(upright))).toBeLessThan(4);
});

test('half of the mouth being turned away, the face stays as it was', async () => {
  const image = picture(18);
  const turned = landmarks(18);
  const tip = 2 * NOSE_TIP;
  turned[tip] = (turned[tip] ?? 0) + 1.3 * LARGE_FACE.half;
  const spoken = await generate(
    image,
    turned,
    audio({ jaw: 1 }),
    paintedExemplars(LARGE_FACE, 30, [-1, -1, -1]),
  );
  expect(difference(spoken, image, SIDE)).toBeLessThan(1e-5);
});

test('rounding narrows the mouth', async () => {
  const image = picture(0);
  const round = await generate(image, landmarks(0), audio({ rounding: 1 }));
  expect(lipWidth(round, LARGE_FACE)).toBeLessThan(lipWidth(image, LARGE_FACE) - 5);
});

test('lips at rest stay shut up to the contact with which a word begins', async () => {
  const image = picture(0);
  const edgeBefore = async (first: Cues): Promise<number> => {
    const cues = (step: number): Cues => (step < 6 ? {} : step < 9 ? first : { jaw: 0.9, spreading: 1 });
    return lowerLipEdge(await generate(image, landmarks(0), cueWindow(cues, 'added')), LARGE_FACE);
  };
  const rest = lowerLipEdge(image, LARGE_FACE);
  expect(await edgeBefore({ closure: 1 })).toBe(rest);
  expect(await edgeBefore({ jaw: 0.9 })).toBeGreaterThan(rest + 2);
});

test('lips that touch stay closed, however far the jaw is down', async () => {
  const image = picture(0);
  const touching = await generate(image, landmarks(0), audio({ jaw: 0.9, closure: 1 }));
  expect(lowerLipEdge(touching, LARGE_FACE)).toBe(lowerLipEdge(image, LARGE_FACE));
});

test('the lower lip rises to the teeth', async () => {
  const edgeAt = async (cues: Cues) =>
    lowerLipEdge(await generate(picture(0), landmarks(0), audio(cues)), LARGE_FACE);
  expect(await edgeAt({ jaw: 0.3, dental: 1 })).toBeLessThan(await edgeAt({ jaw: 0.3 }));
});

describe('a clip that shows its own mouth', () => {
  const GREEN = [-1, 1, -1];
  const greenIn = (image: Float32Array): number => {
    let count = 0;
    for (let i = 0; i < AREA; i++) if ((image[AREA + i] ?? 0) - (image[i] ?? 0) > 0.8) count++;
    return count;
  };

  test('gives what is between its lips', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, GREEN);
    const spoken = await generate(picture(0), landmarks(0), audio({ jaw: 0.8 }), mouths);
    expect(greenIn(spoken)).toBeGreaterThan(500);
  });

  test('shows the same teeth, whether its lips part a little or far', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, [-1, -1, -1]);
    const widest = paintedExemplars(LARGE_FACE, 24, GREEN).pictures.subarray(-EXEMPLAR_BYTES);
    mouths.pictures.set(widest, mouths.pictures.length - widest.length);
    for (const jaw of [0.25, 0.5, 0.8]) {
      const spoken = await generate(picture(0), landmarks(0), audio({ jaw }), mouths);
      expect(greenIn(spoken)).toBeGreaterThan(600 * jaw);
    }
  });

  test('keeps light from its teeth while its lips hardly part', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, GREEN);
    const brightest = async (jaw: number): Promise<number> => {
      const spoken = await generate(picture(0), landmarks(0), audio({ jaw }), mouths);
      return (Math.max(...columnOf(spoken, 1)) + 1) / 2;
    };
    const wide = await brightest(0.85);
    const [little, half] = [await brightest(0.12), await brightest(0.4)];
    expect(little / wide).toBeGreaterThan(0.5);
    expect(little / wide).toBeLessThan(0.75);
    expect(half / wide).toBeGreaterThan(0.85);
  });

  test('blurs it in a frame that motion has blurred, and in no other', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, GREEN);
    const steepest = async (image: Float32Array): Promise<number> => {
      const spoken = await generate(image, landmarks(12), audio({ jaw: 0.6 }), mouths);
      return Math.max(...steps(columnOf(spoken, 0)));
    };
    const sharp = picture(12);
    const blurred = smearedDown(sharp, 6);
    const softBelow = sharp.map((value, i) => (i % AREA < UPPER_LIP * SIDE ? value : (blurred[i] ?? NaN)));
    const own = await steepest(sharp);
    expect(await steepest(blurred)).toBeLessThan(0.5 * own);
    // A mouth of other shape, below a nose that is sharp.
    expect(await steepest(softBelow)).toBeGreaterThan(0.8 * own);
  });

  test('leaves it sharp in a frame that is no softer than one of its own mouths', async () => {
    const steepest = async (...softRungs: number[]): Promise<number> => {
      const mouths = paintedExemplars(LARGE_FACE, 24, GREEN);
      for (const rung of softRungs) {
        const soft = smearedDown(paintedFace(LARGE_FACE, (24 * rung) / 7, 0, GREEN), 6);
        mouths.pictures.set(
          soft.map((value) => (value + 1) * 127.5),
          rung * EXEMPLAR_BYTES,
        );
      }
      const blurred = smearedDown(picture(12), 6);
      const spoken = await generate(blurred, landmarks(12), audio({ jaw: 0.6 }), mouths);
      return Math.max(...steps(columnOf(spoken, 0)));
    };
    expect(await steepest(1)).toBeGreaterThan(1.5 * (await steepest()));
  });

  test('opens it as far as it does itself', async () => {
    const openings = [];
    for (const widest of [14, 24]) {
      const mouths = paintedExemplars(LARGE_FACE, widest, [-1, -1, -1]);
      openings.push(open(await generate(picture(0), landmarks(0), audio({ jaw: 0.85 }), mouths)));
    }
    const [little = NaN, wide = NaN] = openings;
    expect(Math.abs(little - 14)).toBeLessThan(4);
    expect(Math.abs(wide - 24)).toBeLessThan(4);
  });

  test('lifts its upper lip between a wide vowel and a lip at the teeth no higher than for either', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, [-1, -1, -1]);
    const top = async (dental: number): Promise<number> => {
      const spoken = await generate(picture(0), landmarks(0), audio({ jaw: 0.95, dental }), mouths);
      return columnOf(spoken, 0).findIndex((level) => level < -0.2);
    };
    expect(await top(0.5)).toBeGreaterThanOrEqual(Math.min(await top(0), await top(1)));
  });

  test('closes it without a trace of what the source says', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, [-1, -1, -1]);
    const closed = await generate(picture(16), landmarks(16), audio({ jaw: 0.4, closure: 1 }), mouths);
    const onLips = (x: number, y: number) => Math.abs(y - 186) < 10 * (1 - ((x - 128) / 38) ** 2);
    expect(difference(closed, picture(0), SIDE, onLips)).toBeLessThan(0.12);
  });

  test('closes it without a dark corner where landmarks miss that of the source', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, [-1, -1, -1]);
    const missed = landmarks(20);
    for (let i = 48 * 2; i < missed.length; i += 2)
      missed[i] = LARGE_FACE.x + ((missed[i] ?? 0) - LARGE_FACE.x) * 0.92;
    const closed = await generate(picture(20), missed, audio({ closure: 1 }), mouths);
    const darkest = closed
      .subarray(0, AREA)
      .reduce((least, value, i) => (i > UPPER_LIP * SIDE ? Math.min(least, value) : least), 1);
    expect(darkest).toBeGreaterThan(-0.2);
  });

  test('closes it without a frown where a smile has lifted its corners to the nose', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, [-1, -1, -1]);
    const smiling = landmarks(16);
    smiling[2 * NOSE_BASE + 1] = (smiling[2 * NOSE_BASE + 1] ?? 0) + 6;
    const edgeOf = async (points: Float32Array) =>
      lowerLipEdge(await generate(picture(16), points, audio({ closure: 1 }), mouths), LARGE_FACE);
    const lowered = (await edgeOf(smiling)) - (await edgeOf(landmarks(16)));
    expect(lowered).toBeGreaterThanOrEqual(4);
    expect(lowered).toBeLessThanOrEqual(8);
  });

  test('leaves the hair around its lips to the frame, as crisp as it is', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, [-1, -1, -1]);
    const bearded = withHair(picture(8));
    for (const cues of [{ jaw: 0.6 }, { jaw: 0.1, closure: 1 }, { jaw: 0.2, rounding: 1 }]) {
      const spoken = await generate(bearded, landmarks(8), audio(cues), mouths);
      for (const rows of [
        { from: 154, to: 166 },
        { from: 212, to: 226 },
      ])
        expect(crispness(spoken, rows) / crispness(bearded, rows)).toBeGreaterThan(0.8);
    }
  });

  test('closes it with its own lips, though it never does', async () => {
    const mouths = paintedExemplars(LARGE_FACE, 24, GREEN, 14);
    const spoken = await generate(
      paintedFace(LARGE_FACE, 18, 0, GREEN),
      landmarks(18),
      audio({ jaw: 0.8 }),
      mouths,
    );
    const closed = await generate(
      paintedFace(LARGE_FACE, 18, 0, GREEN),
      landmarks(18),
      audio({ jaw: 0.4, closure: 1 }),
      mouths,
    );
    expect(greenIn(spoken)).toBeGreaterThan(500);
    expect(greenIn(closed)).toBeLessThan(20);
  });

  test('gives the mouth its own width, however narrow the source makes it', async () => {
    const narrow = { ...LARGE_FACE, half: 32 };
    const points = landmarks(0);
    for (let i = 48 * 2; i < points.length; i += 2)
      points[i] = narrow.x + ((points[i] ?? 0) - narrow.x) * (narrow.half / LARGE_FACE.half);
    const source = paintedFace(narrow, 0);
    const rested = await generate(source, points, audio({}), paintedExemplars(LARGE_FACE, 24, GREEN));
    expect(lipWidth(source, LARGE_FACE)).toBeLessThan(lipWidth(picture(0), LARGE_FACE) - 8);
    expect(Math.abs(lipWidth(rested, LARGE_FACE) - lipWidth(picture(0), LARGE_FACE))).toBeLessThan(5);
  });
});

/** A channel in the middle of the mouth, row by row. */
const columnOf = (image: Float32Array, channel: number): number[] =>
  Array.from({ length: 48 }, (_, row) => image[(channel * SIDE + 162 + row) * SIDE + 128] ?? NaN);

const steps = (levels: readonly number[]): number[] =>
  levels.map((level, i) => Math.abs(level - (levels[i - 1] ?? level)));

/** Every pixel as the mean of those up to so many rows above and below. */
function smearedDown(image: Float32Array, reach: number): Float32Array {
  return image.map((_, i) => {
    let sum = 0;
    for (let step = -reach; step <= reach; step++) {
      const row = Math.min(SIDE - 1, Math.max(0, (Math.floor(i / SIDE) % SIDE) + step));
      sum += image[(Math.floor(i / AREA) * SIDE + row) * SIDE + (i % SIDE)] ?? NaN;
    }
    return sum / (2 * reach + 1);
  });
}

/** The picture with gray hairs on the skin around the lips, each a column of two pixels that ends now and then. */
function withHair(image: Float32Array): Float32Array {
  let state = 1;
  const shade = new Map<number, number>();
  return image.map((value, i) => {
    const [x, y] = [i % SIDE, Math.floor(i / SIDE) % SIDE];
    if (Math.abs(y - 187) < 20 || Math.abs(x - 128) > 60 || Math.abs(y - 187) > 50) return value;
    const hair = (Math.floor(y / 6) * SIDE + (x >> 1)) | 0;
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const level = shade.get(hair) ?? state / 2 ** 32 - 0.5;
    shade.set(hair, level);
    return value + 0.5 * level;
  });
}

/** Energy of the differences of neighbors in some rows above or below the lips. */
function crispness(image: Float32Array, { from, to }: { from: number; to: number }): number {
  let energy = 0;
  for (let y = from; y < to; y++)
    for (let x = 104; x < 152; x++)
      energy += ((image[y * SIDE + x + 1] ?? 0) - (image[y * SIDE + x - 1] ?? 0)) ** 2;
  return energy;
}
