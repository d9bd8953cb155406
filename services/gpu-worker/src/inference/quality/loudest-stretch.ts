/**
 * The stretch [from, to) of at most `length` frames with the most speech in frames that show a face, so that sync is
 * measured where there is something to measure.
 *
 * @param envelope loudness per frame
 * @param shown per frame whether it shows a face
 */
export function loudestStretch(
  envelope: readonly number[],
  shown: readonly boolean[],
  length: number,
): { from: number; to: number } {
  const worth = envelope.map((loudness, i) => (shown[i] === true ? loudness : 0));
  const size = Math.min(length, worth.length);
  let sum = worth.slice(0, size).reduce((total, value) => total + value, 0);
  let best = { from: 0, sum };
  for (let from = 1; from + size <= worth.length; from++) {
    sum += (worth[from + size - 1] ?? 0) - (worth[from - 1] ?? 0);
    if (sum > best.sum) best = { from, sum };
  }
  return { from: best.from, to: best.from + size };
}
