import { type Cover, COVER_SIDE, coverOf, coverTransform, isCovered } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { type PictureFormat, pictureLayout } from '@lipsync/kernels';
import { createKeepFilmed } from './keep-filmed';

const FILMED = 60;
const GENERATED = 200;
/** Where the engine below changes the picture. */
const CHANGED = { x1: 31, y1: 20, x2: 120, y2: 131 };

type Samples = Uint8Array | Uint16Array;

const samplesOf = (frame: Uint8Array, { depth }: PictureFormat): Samples =>
  depth === 8 ? frame : new Uint16Array(frame.buffer);

/** Planes with their width and height, and how many pixels a sample spans. */
function planesOf(format: PictureFormat) {
  const { width, height } = format;
  const { chromaWidth, chromaHeight, uOffset, vOffset, sampleBytes } = pictureLayout(format);
  return [
    { from: 0, columns: width, rows: height, span: 1 },
    { from: uOffset / sampleBytes, columns: chromaWidth, rows: chromaHeight, span: 2 },
    { from: vOffset / sampleBytes, columns: chromaWidth, rows: chromaHeight, span: 2 },
  ];
}

/** Levels of all planes before and after a face was generated over part of a picture. */
function rendered(depth: 8 | 10, { cover, shown = 255 }: { cover?: Cover; shown?: number }) {
  // Odd sides: the last column and row share their colors with no neighbor.
  const size = { width: 151, height: 141 };
  const format: PictureFormat = { ...size, depth, matrix: 'bt709', range: 'limited', transfer: 'sdr' };
  const track = {
    ...syntheticTrack({ frames: 1, box: { x1: 35, y1: 20, x2: 115, y2: 120 }, ...size }),
    shown: Uint8Array.of(shown),
    covers: new Map(cover && [[0, cover]]),
  };
  const scale = depth === 8 ? 1 : 4;
  const frame = new Uint8Array(pictureLayout(format).bytes);
  const samples = samplesOf(frame, format);
  // No two neighbors are the same, so that nothing passes for filmed that was merely copied from nearby.
  samples.forEach((_, i) => (samples[i] = scale * FILMED + (i % 7)));
  const before = samples.slice();
  createKeepFilmed({ track, sources: [0] }, format)(frame, 0, () => {
    for (const { from, columns, span } of planesOf(format)) {
      for (let y = Math.floor(CHANGED.y1 / span); y < CHANGED.y2 / span; y++)
        for (let x = Math.floor(CHANGED.x1 / span); x < CHANGED.x2 / span; x++)
          samples[from + y * columns + x] = scale * GENERATED;
    }
  });
  return { format, before, after: samples, generated: scale * GENERATED, landmarks: track.landmarks };
}

const isChanged = (x: number, y: number): boolean =>
  x >= CHANGED.x1 && x < CHANGED.x2 && y >= CHANGED.y1 && y < CHANGED.y2;

/** How many cells a place in the picture is away from the nearest covered one, across or down. */
function distanceFrom(cover: Cover, landmarks: Float32Array): (x: number, y: number) => number {
  const { a, b, c, d, e, f } = coverTransform(landmarks);
  const cells = Array.from({ length: COVER_SIDE ** 2 }, (_, cell) => ({
    column: cell % COVER_SIDE,
    row: Math.floor(cell / COVER_SIDE),
  })).filter(({ column, row }) => isCovered(cover, column, row));
  return (x, y) => {
    const [u, v] = [a * x + b * y + c, d * x + e * y + f];
    return cells.reduce(
      (least, { column, row }) =>
        Math.min(least, Math.max(column - u, u - column - 1, row - v, v - row - 1, 0)),
      Infinity,
    );
  };
}

/** The brightness of a picture, and what it must be where the engine changed it. */
function lumaOf(
  { before, after, generated, format }: ReturnType<typeof rendered>,
  wanted: (filmed: number, generated: number) => number,
) {
  const { width, height } = format;
  const expected = before.slice(0, width * height).map((filmed, at) => {
    return isChanged(at % width, Math.floor(at / width)) ? wanted(filmed, generated) : filmed;
  });
  return { after: after.slice(0, width * height), expected };
}

describe.each([8, 10] as const)('a picture of %d bits', (depth) => {
  test('shows the whole generated face where nothing covers it', () => {
    const { after, expected } = lumaOf(rendered(depth, {}), (_, generated) => generated);
    expect(after).toEqual(expected);
  });

  test.each([
    ['in the middle of the face', coverOf((column, row) => Math.hypot(column - 30, row - 45) < 9)],
    ['at its border', coverOf((column, row) => column >= 50 && row > 30)],
    ['in a single cell', coverOf((column, row) => column === 33 && row === 40)],
  ])('keeps what was filmed %s exactly, fades beside it, and nothing farther away', (_, cover) => {
    const { before, after, generated, format, landmarks } = rendered(depth, { cover });
    const away = distanceFrom(cover, landmarks);
    const seen = { kept: 0, lost: 0, mixed: 0, generated: 0, notGenerated: 0 };
    for (const { from, columns, rows, span } of planesOf(format)) {
      for (let y = 0; y < rows; y++)
        for (let x = 0; x < columns; x++) {
          const at = from + y * columns + x;
          const middle = [span * (x + 0.5), span * (y + 0.5)] as const;
          if (!isChanged(...middle)) continue;
          const cells = away(...middle);
          if (cells === 0) seen[after[at] === before[at] ? 'kept' : 'lost']++;
          else if (cells > 3) seen[after[at] === generated ? 'generated' : 'notGenerated']++;
          else if (after[at] !== before[at] && after[at] !== generated) seen.mixed++;
        }
    }
    expect(seen).toMatchObject({ lost: 0, notGenerated: 0 });
    expect(seen.kept).toBeGreaterThan(2);
    expect(seen.mixed).toBeGreaterThan(5);
    expect(seen.generated).toBeGreaterThan(1000);
  });

  test('is mixed with the filmed one as a mouth fades, in everything that changed and nothing else', () => {
    const mixed = (filmed: number, generated: number): number =>
      Math.round(filmed + 0.2 * (generated - filmed));
    const { after, expected } = lumaOf(rendered(depth, { shown: 51 }), mixed);
    expect(after).toEqual(expected);
  });
});

test('a cover is kept in a mouth that fades', () => {
  const cover = coverOf((column, row) => Math.hypot(column - 30, row - 45) < 9);
  const { before, after, format, landmarks } = rendered(8, { cover, shown: 128 });
  const { a, c, e, f } = coverTransform(landmarks);
  const at = Math.round((45 - f) / e) * format.width + Math.round((30 - c) / a);
  expect(after[at]).toBe(before[at]);
  expect(after[130 * format.width + 100]).toBeGreaterThan(FILMED + 60);
});
