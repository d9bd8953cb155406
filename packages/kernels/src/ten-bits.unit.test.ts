import { createAlignedCrop } from './aligned-crop';
import { createAlignedPaste } from './aligned-paste';
import { createCropFace } from './crop-face';
import { MASK_SIZE } from './mask';
import { createPasteFace } from './paste-face';
import { type Affine, type PictureFormat } from './picture';
import { createToSdr } from './sdr-colors';

const SIDE = 128;
const AREA = SIDE * SIDE;
const WHOLE = { x1: 0, y1: 0, x2: SIDE, y2: SIDE };
const SAME: Affine = { a: 1, b: 0, c: 0, d: 0, e: 1, f: 0 };

type Coding = Pick<PictureFormat, 'matrix' | 'range' | 'transfer'>;

const formatOf = (coding: Coding): PictureFormat => ({ width: SIDE, height: SIDE, depth: 10, ...coding });
const HLG: Coding = { matrix: 'bt2020', range: 'limited', transfer: 'hlg' };
const PQ: Coding = { ...HLG, transfer: 'pq' };
const SDR: Coding = { matrix: 'bt709', range: 'limited', transfer: 'sdr' };
const CODINGS = [PQ, HLG, SDR, { ...SDR, matrix: 'bt2020' }, { ...PQ, range: 'full' }] as const;

/** A picture as its words: `luma` by the pixel, U and V by the pair of pixels. */
function pictureOf(
  luma: (x: number, y: number) => number,
  u: (x: number, y: number) => number = () => 512,
  v: (x: number, y: number) => number = () => 512,
): Uint16Array {
  const half = SIDE / 2;
  return Uint16Array.from({ length: 1.5 * AREA }, (_, i) => {
    if (i < AREA) return luma(i % SIDE, Math.floor(i / SIDE));
    const k = i - AREA;
    return (k < AREA / 4 ? u : v)(k % half, Math.floor(k / half) % half);
  });
}

const frameOf = (words: Uint16Array): Uint8Array => new Uint8Array(words.slice().buffer);
const wordsOf = (frame: Uint8Array): Uint16Array => new Uint16Array(frame.buffer);

/** What a network that sees every pixel of the picture sees. */
function sdrOf(words: Uint16Array, format: PictureFormat): Float32Array {
  const planes = Float32Array.from({ length: 3 * AREA }, (_, i) => {
    if (i < AREA) return (words[i] ?? NaN) / 4;
    const [x, y] = [i % SIDE, Math.floor((i % AREA) / SIDE)];
    const plane = AREA + (i < 2 * AREA ? 0 : AREA / 4);
    return (words[plane + (y >> 1) * (SIDE / 2) + (x >> 1)] ?? NaN) / 4;
  });
  createToSdr(format, AREA)(planes);
  return planes;
}

const PASTES = [
  [
    'an upright face',
    (frame: Uint8Array, format: PictureFormat, face: Float32Array) =>
      createPasteFace(format, SIDE)(frame, WHOLE, face, 0, new Float32Array(MASK_SIZE ** 2).fill(1)),
  ],
  [
    'a rotated face',
    (frame: Uint8Array, format: PictureFormat, face: Float32Array) =>
      createAlignedPaste(format, SIDE, new Float32Array(AREA).fill(1))(frame, SAME, face, 0),
  ],
] as const;

/** Every code, the ones below black and above white too, in every color of a skin. */
const skin = pictureOf(
  (x, y) => (x + 128 * y) % 1024,
  (x) => 440 + (x % 64),
  (_, y) => 512 + y,
);
/** Every code, from one pixel to the next. */
const rough = pictureOf(
  (x, y) => (389 * x + 541 * y) % 1024,
  (x, y) => (211 * x + 97 * y) % 1024,
  (x, y) => (53 * x + 317 * y) % 1024,
);

describe.each(PASTES)('%s', (_, paste) => {
  test.each(CODINGS)('that a network did not change leaves every sample as it is: %o', (coding) => {
    const format = formatOf(coding);
    const frame = frameOf(skin);
    paste(frame, format, sdrOf(skin, format));
    expect(wordsOf(frame)).toEqual(skin);
    const wild = frameOf(rough);
    paste(wild, format, sdrOf(rough, format));
    const most = wordsOf(wild).reduce((far, code, i) => Math.max(far, Math.abs(code - (rough[i] ?? NaN))), 0);
    expect(most).toBeLessThanOrEqual(1);
  });

  test.each(CODINGS)('of a drawn gradient has every code from its darkest to its brightest: %o', (coding) => {
    const gradient = Float32Array.from({ length: 3 * AREA }, (__, i) => -0.7 + (i % AREA) / AREA);
    const frame = frameOf(pictureOf(() => 300));
    paste(frame, formatOf(coding), gradient);
    const codes = [...new Set(wordsOf(frame).subarray(0, AREA))].sort((a, b) => a - b);
    expect(codes.length).toBeGreaterThan(200);
    expect(codes).toEqual(codes.map((__, i) => (codes[0] ?? NaN) + i));
  });

  test('that is drawn brighter becomes so in the picture, at most as bright as 1000 cd/m²', () => {
    const format = formatOf(PQ);
    const dim = pictureOf(() => 440);
    const codeAt = (color: number): number => {
      const frame = frameOf(dim);
      paste(frame, format, new Float32Array(3 * AREA).fill(color));
      return wordsOf(frame)[64 * SIDE + 64] ?? NaN;
    };
    // 203 and 1000 cd/m² in PQ, of which the network sees 0.91 and 1.
    expect(Math.abs(codeAt(2 * 0.9097 - 1) - (64 + 876 * 0.5807))).toBeLessThan(2);
    expect(Math.abs(codeAt(1.2) - (64 + 876 * 0.7518))).toBeLessThan(2);
  });

  test('in ten bits of SDR is what it is in eight', () => {
    const face = Float32Array.from({ length: 3 * AREA }, (__, i) => 0.5 * Math.sin(i / 9));
    const [deep, flat] = [formatOf(SDR), { ...formatOf(SDR), depth: 8 } as const];
    const words = pictureOf((x, y) => 4 * (90 + ((x + y) % 60)));
    const frame = frameOf(words);
    const shallow = Uint8Array.from(words, (code) => code / 4);
    paste(frame, deep, face);
    paste(shallow, flat, face);
    const luma = wordsOf(frame).subarray(0, AREA);
    const most = luma.reduce((far, code, i) => Math.max(far, Math.abs(code - 4 * (shallow[i] ?? NaN))), 0);
    expect(most).toBeLessThanOrEqual(3);
  });
});

describe('what a network sees', () => {
  const crops = [
    [
      'an upright face',
      (frame: Uint8Array, format: PictureFormat, target: Float32Array) =>
        createCropFace(format, SIDE)(frame, WHOLE, target, 0),
    ],
    [
      'a rotated face',
      (frame: Uint8Array, format: PictureFormat, target: Float32Array) =>
        createAlignedCrop(format, SIDE)(frame, SAME, target, 0),
    ],
  ] as const;

  test.each(crops)('of %s in ten bits of SDR is what it sees in eight', (_, crop) => {
    const words = pictureOf(
      (x, y) => 4 * (40 + ((3 * x + 5 * y) % 150)),
      (x) => 4 * (100 + (x % 50)),
    );
    const [deep, flat] = [new Float32Array(3 * AREA), new Float32Array(3 * AREA)];
    crop(frameOf(words), formatOf(SDR), deep);
    crop(
      Uint8Array.from(words, (code) => code / 4),
      { ...formatOf(SDR), depth: 8 },
      flat,
    );
    expect(deep.every((color, i) => Math.abs(color - (flat[i] ?? NaN)) < 1e-3)).toBe(true);
  });

  test.each([
    ['PQ', PQ, 0.5807],
    ['HLG', HLG, 0.75],
  ] as const)('of %s rises with every code, from black to diffuse white at 0.91', (_, coding, white) => {
    const [blackCode, range] = [64, 876];
    const grays = sdrOf(
      pictureOf((x, y) => (x + SIDE * y) % 1024),
      formatOf(coding),
    ).subarray(0, 1024);
    const seen = [...grays].map((color) => (color + 1) / 2);
    const rises = seen.slice(1).every((level, i) => level > (seen[i] ?? NaN) || level === 1 || i < blackCode);
    expect(rises).toBe(true);
    expect(seen[blackCode]).toBeCloseTo(0, 5);
    expect(seen[Math.round(blackCode + range * white)]).toBeCloseTo(0.91, 2);
  });

  test('of BT.2020’s primaries is gray for gray, and for skins nearly what their light would be in SDR’s', () => {
    const format = formatOf({ ...SDR, matrix: 'bt2020' });
    /** By ITU-R BT.2087, on light. */
    const toBt2020 = [
      [0.6274, 0.3293, 0.0433],
      [0.0691, 0.9195, 0.0114],
      [0.0164, 0.088, 0.8956],
    ];
    for (const color of [
      [128, 128, 128],
      [240, 213, 190],
      [194, 150, 130],
      [115, 82, 68],
      [61, 37, 30],
    ]) {
      const light = color.map((code) => (code / 255) ** 2.4);
      const [r = NaN, g = NaN, b = NaN] = toBt2020.map(
        (row) => row.reduce((sum, share, k) => sum + share * (light[k] ?? NaN), 0) ** (1 / 2.4),
      );
      const y = 0.2627 * r + 0.678 * g + 0.0593 * b;
      const words = pictureOf(
        () => Math.round(64 + 876 * y),
        () => Math.round(512 + (896 * (b - y)) / 1.8814),
        () => Math.round(512 + (896 * (r - y)) / 1.4746),
      );
      const seen = sdrOf(words, format);
      const far = color.map((code, k) => Math.abs(127.5 * ((seen[k * AREA] ?? NaN) + 1) - code));
      expect(Math.max(...far)).toBeLessThan(new Set(color).size === 1 ? 0.5 : 5);
    }
  });
});
