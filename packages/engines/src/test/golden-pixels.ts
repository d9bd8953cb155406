import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Box, pictureLayout } from '@lipsync/kernels';
import { z } from 'zod';

const FOLDER = join(__dirname, '../../test-data/golden/pixels');

/** Every `stride`-th element of an array of this shape. */
const samplesSchema = z.object({
  shape: z.array(z.int().positive()),
  stride: z.int().positive(),
  elements: z.array(z.number()).min(1),
});

/** A region of a frame into which upstream pasted a face. */
const pasteShape = {
  region: z.tuple([z.int(), z.int(), z.int(), z.int()]),
  /** Levels of a white face in a black frame. */
  mask: samplesSchema,
  /** Codes of the golden face in the golden frame. */
  luma: samplesSchema,
  chroma: samplesSchema,
};

const boxSchema = z
  .tuple([z.number(), z.number(), z.number(), z.number()])
  .transform(([x1, y1, x2, y2]): Box => ({ x1, y1, x2, y2 }));
const landmarksSchema = z.array(z.number()).length(136);
const countsSchema = z.object({ rows: z.array(z.int()), columns: z.array(z.int()) });

const musetalkSchema = z.object({
  boxes: z.array(
    z.object({
      name: z.string(),
      landmarks: landmarksSchema,
      shift: z.int(),
      margin: z.int(),
      box: boxSchema,
    }),
  ),
  crops: z.array(z.object({ box: boxSchema, picture: samplesSchema })),
  /** Generated pixels of every row and column. */
  parsing: z.object({ jaw: countsSchema, raw: countsSchema, neck: countsSchema }),
  /** `parsed`: the parser's input, in thousandths. */
  pastes: z.array(z.object({ box: boxSchema, parsed: samplesSchema, ...pasteShape })),
});

const latentsyncSchema = z.object({
  mask: z.object({ size: z.int(), spans: z.array(z.tuple([z.int(), z.int(), z.int()])) }),
  /** Gray levels, one per side. */
  masks: z.array(samplesSchema),
  faces: z.array(
    z.object({
      name: z.string(),
      side: z.int(),
      landmarks: landmarksSchema,
      /** From the frame to the aligned face; in both, pixel 0 has its center at 0. */
      matrix: z.tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()]),
      crop: samplesSchema,
      ...pasteShape,
    }),
  ),
});

const highsyncSchema = z.object({
  /** By frame; all zero where no face was found. */
  boxes: z.array(boxSchema),
  shots: z.array(z.int()),
  crops: z.array(boxSchema),
  /** Levels of the first crop. */
  crop: samplesSchema,
  /** The generated cells of the latent, bounds included. */
  rectangle: z.object({ top: z.int(), bottom: z.int(), left: z.int(), right: z.int() }),
  paste: z.object(pasteShape),
});

/** What upstream's own functions do to pixels around the networks; written by scripts/export/golden_pixels.py. */
const recorded = (engine: string): unknown =>
  JSON.parse(readFileSync(join(FOLDER, `${engine}.json`), 'utf8'));

export const musetalkPixels = () => musetalkSchema.parse(recorded('musetalk'));
export const latentsyncPixels = () => latentsyncSchema.parse(recorded('latentsync'));
export const highsyncPixels = () => highsyncSchema.parse(recorded('highsync'));

/** The format of the golden frame. */
export const GOLDEN_FORMAT = {
  width: 640,
  height: 480,
  matrix: 'bt601',
  range: 'full',
  depth: 8,
  transfer: 'sdr',
} as const;

const { width, height } = GOLDEN_FORMAT;
const { bytes, uOffset, vOffset, chromaWidth, chromaHeight } = pictureLayout(GOLDEN_FORMAT);
const rounded = (value: number): number => Math.floor(value + 0.5);

/** Waves and blocks; the formula of `frame` in scripts/export/golden/pixel_inputs.py. */
export function goldenFrame(): Uint8Array<ArrayBuffer> {
  return FRAME.slice();
}

const FRAME = new Uint8Array(bytes);
for (let y = 0; y < height; y++) {
  for (let x = 0; x < width; x++) {
    const waves = 40 * Math.sin(0.045 * x + 0.03 * y) + 20 * Math.sin(0.5 * x) * Math.sin(0.4 * y);
    const block = (Math.floor(x / 40) + Math.floor(y / 40)) % 2 === 1 ? 15 : -15;
    FRAME[y * width + x] = rounded(120 + waves + block);
  }
}
for (let row = 0; row < chromaHeight; row++) {
  for (let column = 0; column < chromaWidth; column++) {
    const x = 2 * column + 0.5;
    const y = 2 * row + 0.5;
    const at = row * chromaWidth + column;
    FRAME[uOffset + at] = rounded(128 + 25 * Math.sin(0.02 * x - 0.015 * y));
    FRAME[vOffset + at] = rounded(128 + 25 * Math.cos(0.017 * x + 0.02 * y));
  }
}

/** The face that is pasted, [3, side, side] in [-1, 1]; the formula of `generated_face` there. */
function goldenFace(side: number): Float32Array<ArrayBuffer> {
  const face = new Float32Array(3 * side * side);
  const turns = (count: number): number => 2 * Math.PI * count;
  for (let channel = 0, i = 0; channel < 3; channel++) {
    for (let row = 0; row < side; row++) {
      const y = (row + 0.5) / side;
      const across = 15 * Math.sin(turns(20 * y));
      for (let column = 0; column < side; column++, i++) {
        const x = (column + 0.5) / side;
        const wave = 60 * Math.sin(turns(2 * x + 3 * y) + channel);
        face[i] = rounded(127.5 + wave + across * Math.sin(turns(24 * x))) / 127.5 - 1;
      }
    }
  }
  return face;
}

/** How far values are from upstream's. */
interface Deviation {
  /** NaN if nothing was compared. */
  readonly rms: number;
  readonly max: number;
  /** The lowest difference: negative where upstream's value is higher. */
  readonly least: number;
}

type Samples = z.output<typeof samplesSchema>;

/** Compares `actual` of the recorded indices; `where` chooses among them. */
export function deviation(
  { shape, stride, elements }: Samples,
  actual: (...indices: readonly number[]) => number,
  where: (...indices: readonly number[]) => boolean = () => true,
): Deviation {
  const compared = elements.flatMap((wanted, i) => {
    const indices = indicesOf(i * stride, shape);
    return where(...indices) ? [actual(...indices) - wanted] : [];
  });
  const squares = compared.reduce((sum, off) => sum + off * off, 0);
  return {
    rms: Math.sqrt(squares / compared.length),
    max: Math.max(...compared.map(Math.abs)),
    least: Math.min(...compared),
  };
}

function indicesOf(place: number, shape: readonly number[]): number[] {
  let rest = place;
  const backwards = shape.toReversed().map((length) => {
    const index = rest % length;
    rest = (rest - index) / length;
    return index;
  });
  return backwards.toReversed();
}

/** A value of planes [3, side, side] in [-1, 1], as the level of 255 at row, column and channel of a picture. */
export function levelAt(planes: Float32Array, side: number) {
  return (row = NaN, column = NaN, channel = NaN): number => {
    const level = ((planes[(channel * side + row) * side + column] ?? NaN) + 1) * 127.5;
    return Math.min(255, Math.max(0, level));
  };
}

type Paste = z.output<z.ZodObject<typeof pasteShape>>;

/**
 * Compares what `paste` makes of the golden frame and face, and of black and white, with the recorded region. `shown`
 * chooses pixels of the picture.
 */
export function pasteDeviation(
  { region: [left, top], mask, luma, chroma }: Paste,
  paste: (picture: Uint8Array, face: Float32Array<ArrayBuffer>) => void,
  side: number,
  shown: (x: number, y: number) => boolean = () => true,
): { mask: Deviation; luma: Deviation; chroma: Deviation } {
  const black = new Uint8Array(bytes).fill(128, uOffset);
  paste(black, new Float32Array(3 * side * side).fill(1));
  const picture = goldenFrame();
  paste(picture, goldenFace(side));
  const lumaOf =
    (codes: Uint8Array) =>
    (y = NaN, x = NaN) =>
      codes[(top + y) * width + left + x] ?? NaN;
  const chromaOf = (plane = NaN, y = NaN, x = NaN): number =>
    picture[(plane === 0 ? uOffset : vOffset) + (top / 2 + y) * chromaWidth + left / 2 + x] ?? NaN;
  return {
    mask: deviation(mask, lumaOf(black)),
    luma: deviation(luma, lumaOf(picture), (y = NaN, x = NaN) => shown(left + x + 0.5, top + y + 0.5)),
    chroma: deviation(chroma, chromaOf, (_, y = NaN, x = NaN) => shown(left + 2 * x + 1, top + 2 * y + 1)),
  };
}
