/** A row of a display matrix as ffprobe prints it: its number, then three integers. */
const ROW = /^\s*[0-9a-f]+:\s+(-?\d+)\s+(-?\d+)\s+-?\d+/gm;

/**
 * The filters that turn a picture stored under this display matrix upright (ISO/IEC 14496-12, 8.3.2; ffprobe's text):
 * none when there is no matrix. Null for a matrix not made of quarter turns and mirrors, which is left to ffmpeg's own
 * guess.
 */
export function uprightFilters(matrix: string | undefined): readonly string[] | null {
  if (matrix === undefined) return [];
  const [[a = NaN, b = NaN] = [], [c = NaN, d = NaN] = []] = Array.from(matrix.matchAll(ROW), (row) =>
    row.slice(1).map(Number),
  );
  if (b === 0 && c === 0 && a !== 0 && d !== 0) {
    return [...(a < 0 ? ['hflip'] : []), ...(d < 0 ? ['vflip'] : [])];
  }
  if (a !== 0 || d !== 0 || !b || !c) return null;
  // A row of the picture becomes a column, from the top if b > 0; the rows follow from the left if c > 0.
  const direction = b > 0 ? (c > 0 ? 'cclock_flip' : 'clock') : c > 0 ? 'cclock' : 'clock_flip';
  return [`transpose=${direction}`];
}

/** Whether these filters swap width and height. */
export function exchangesSides(filters: readonly string[]): boolean {
  return filters.some((filter) => filter.startsWith('transpose'));
}
