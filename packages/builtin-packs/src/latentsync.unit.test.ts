import { latentsyncPixels } from '@lipsync/engines/test/golden-pixels';
import { faceMask } from './latentsync';

/** The generated pixels, as `row:column`. */
function pixels({ spans }: ReturnType<typeof faceMask>): Set<string> {
  return new Set(
    spans.flatMap(([row, first, last]) =>
      Array.from({ length: last - first + 1 }, (_, i) => `${row}:${first + i}`),
    ),
  );
}

test('the mask differs from the published one in less than half a percent of the face', () => {
  const { mask: published } = latentsyncPixels();
  const [own, theirs] = [pixels(faceMask()), pixels(published)];
  const inBoth = [...own].filter((pixel) => theirs.has(pixel)).length;
  expect(published.size).toBe(faceMask().size);
  expect((own.size + theirs.size - 2 * inBoth) / published.size ** 2).toBeLessThan(0.005);
});
