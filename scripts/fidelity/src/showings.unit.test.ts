import { comparePictures, expectedShowings, type Showing, showingsOf } from './showings';

/** `count` pictures at a constant rate. */
const filmed = (fps: number, count: number): Showing[] =>
  showingsOf(
    Array.from({ length: count }, (_, i) => i),
    Array.from({ length: count }, (_, i) => i / fps),
    count / fps,
  );
/** A render of them in which each frame shows the picture nearest to its time. */
const rendered = (source: readonly Showing[], fps: number): Showing[] => {
  const end = source.at(-1)?.end ?? 0;
  const starts = Array.from({ length: Math.round(end * fps) }, (_, i) => i / fps);
  const numberAt = (time: number): number =>
    source.findLast(({ start }) => start <= time + 1e-9)?.number ?? -1;
  return showingsOf(starts.map(numberAt), starts, end);
};
const numbers = (showings: readonly Showing[]): number[] => showings.map(({ number }) => number);

describe('what a render has to show', () => {
  it('is every picture at its time, up to 60 a second', () => {
    for (const fps of [12, 24, 30, 60]) {
      const source = filmed(fps, 2 * fps);
      expect(comparePictures(expectedShowings(source, 'cut_off', 9), source)).toMatchObject({
        expected: 2 * fps,
        ...{ dropped: 0, repeated: 0, held: 0, moved_ms: 0, judder_ms: 0, late_end_ms: 0 },
      });
    }
  });

  it('is every fourth picture of 240 a second', () => {
    expect(numbers(expectedShowings(filmed(240, 12), 'cut_off', 9))).toEqual([0, 4, 8]);
  });

  it('is a picture of a second as 25 frames, of which the voice may cut some off', () => {
    expect(expectedShowings(filmed(1, 3), 'cut_off', 2.5).map(({ frames }) => frames)).toEqual([25, 25, 12]);
  });

  it('follows the sync mode', () => {
    const source = filmed(10, 3);
    const modes = { loop: [0, 1, 2, 0, 1, 2, 0], bounce: [0, 1, 2, 1, 0, 1, 2], silence: [0, 1, 2] } as const;
    for (const [mode, expected] of Object.entries(modes))
      expect(numbers(expectedShowings(source, mode as keyof typeof modes, 0.75))).toEqual(expected);
    expect(expectedShowings(source, 'remap', 0.6)).toMatchObject([
      { frames: 2 },
      { frames: 2 },
      { frames: 2 },
    ]);
  });
});

describe('what a render lost', () => {
  it('is counted when pictures are dropped, with the judder that this makes', () => {
    const source = filmed(30, 60);
    expect(comparePictures(source, rendered(source, 25))).toMatchObject({
      ...{ expected: 60, frames: 50, dropped: 10, repeated: 0, judder_ms: 26.67 },
    });
  });

  it('is counted when pictures are repeated', () => {
    const source = filmed(24, 24);
    expect(comparePictures(source, rendered(source, 25))).toMatchObject({
      frames: 25,
      dropped: 0,
      repeated: 1,
    });
  });

  it('is counted when pictures cannot be read, or are in the wrong order', () => {
    const source = filmed(25, 5);
    const shown = showingsOf([0, -1, 3, 2, 4], [0, 0.04, 0.08, 0.12, 0.16], 0.2);
    expect(comparePictures(source, shown)).toMatchObject({ dropped: 2, repeated: 2, unreadable: 1 });
  });

  it('is how far a picture moved', () => {
    const source = filmed(25, 3);
    const shown = showingsOf([0, 1, 2], [0, 0.045, 0.08], 0.12);
    expect(comparePictures(source, shown)).toMatchObject({ dropped: 0, moved_ms: 5, judder_ms: 5 });
  });
});
