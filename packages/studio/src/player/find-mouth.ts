/** Part of a picture, in fractions of its width and height. */
export interface Region {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

export interface Picture {
  readonly width: number;
  readonly height: number;
  /** RGBA. */
  readonly data: Uint8ClampedArray;
}

/** Differences in the sum of three channels below this are the encoder's. */
const NOISE = 48;
/** The share of the differing pixels that may lie outside: sparks far from the mouth must not widen the region. */
const TAIL = 0.03;

/**
 * Where an engine has drawn: it changes the mouth and nothing else, so the pixels that differ from the source frame are
 * the mouth. Null if the pictures hardly differ.
 */
export function findMouth(pairs: readonly (readonly [Picture, Picture])[]): Region | null {
  const first = pairs[0]?.[0];
  if (first === undefined) return null;
  const { width, height } = first;
  const columns = new Float64Array(width);
  const rows = new Float64Array(height);
  for (const [a, b] of pairs) addDifferences(a, b, columns, rows);
  const changed = columns.reduce((sum, count) => sum + count, 0);
  if (changed < 8 * pairs.length) return null;
  const [left, right] = middlePart(columns, changed);
  const [top, bottom] = middlePart(rows, changed);
  return {
    x: left / width,
    y: top / height,
    width: (right - left + 1) / width,
    height: (bottom - top + 1) / height,
  };
}

function addDifferences(a: Picture, b: Picture, columns: Float64Array, rows: Float64Array): void {
  if (a.width !== b.width || a.height !== b.height) return;
  for (let y = 0, i = 0; y < a.height; y++)
    for (let x = 0; x < a.width; x++, i += 4) {
      let difference = 0;
      for (let channel = i; channel < i + 3; channel++)
        difference += Math.abs((a.data[channel] ?? 0) - (b.data[channel] ?? 0));
      if (difference < NOISE) continue;
      columns[x] = (columns[x] ?? 0) + 1;
      rows[y] = (rows[y] ?? 0) + 1;
    }
}

/** First and last position, without the tails. */
function middlePart(counts: Float64Array, total: number): [number, number] {
  const edge = (positions: Iterable<number>): number => {
    let sum = 0;
    for (const position of positions) {
      sum += counts[position] ?? 0;
      if (sum > TAIL * total) return position;
    }
    return 0;
  };
  const positions = [...counts.keys()];
  return [edge(positions), edge(positions.reverse())];
}
