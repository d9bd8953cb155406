import { type Markup } from '@lipsync/scripts';
import { distributionOf, histogramOf, quantilesOf } from '../quantiles';
import { type OperationReport } from '../report';
import { cumulativeChart, percentileChart } from './distribution-charts';

/** 98 % take ten milliseconds, the others a second: the 99th percentile is a second. */
const HISTOGRAM = histogramOf(Array.from({ length: 1_000 }, (_, i) => (i < 980 ? 10 : 1_000)));
const OPERATION: OperationReport = {
  operation: 'get_render',
  requests: 1_000,
  per_second: 10,
  succeeded: 1_000,
  expected: 0,
  limited: 0,
  failed: 0,
  latency_ms: quantilesOf(HISTOGRAM),
  response_ms: null,
  latency_distribution: distributionOf(HISTOGRAM),
};

interface Drawn {
  /** The corners of the only line. */
  corners: [x: number, y: number][];
  /** Position of this label on an axis. */
  atX: (label: string) => number;
  atY: (label: string) => number;
}

function drawn(chart: Markup | null): Drawn {
  const text = chart?.text ?? '';
  const path = /<path d="([^"]+)" fill="none"/.exec(text)?.[1] ?? '';
  const corners: [number, number][] = [];
  for (const [, command, first, second] of path.matchAll(/([MHV])([\d.]+)(?:,([\d.]+))?/g)) {
    const [x, y] = corners.at(-1) ?? [0, 0];
    if (command === 'M') corners.push([Number(first), Number(second)]);
    else corners.push(command === 'H' ? [Number(first), y] : [x, Number(first)]);
  }
  const grid = new Map(
    [...text.matchAll(/x1="([\d.]+)"[^>]*y1="([\d.]+)"[^>]*><text[^>]*>([^<]+)</g)].map(([, x, y, label]) => [
      label,
      { x: Number(x), y: Number(y) },
    ]),
  );
  return {
    corners,
    atX: (label) => grid.get(label)?.x ?? NaN,
    atY: (label) => grid.get(label)?.y ?? NaN,
  };
}
const near = (value: number) => expect.closeTo(value, -0.5) as number;

/** The height of the line where a vertical line at `x` crosses it between its corners. */
function heightAt(corners: Drawn['corners'], x: number): number | undefined {
  const index = corners.findIndex(([from], i) => from <= x && x < (corners[i + 1]?.[0] ?? -Infinity));
  return corners[index]?.[1];
}

describe('percentileChart', () => {
  it('shows a percentile’s value at its tick', () => {
    expect(OPERATION.latency_ms?.p99).toBe(1_000);
    const { corners, atX, atY } = drawn(percentileChart([OPERATION]));
    expect(heightAt(corners, atX('50 %'))).toEqual(near(atY('10 ms')));
    expect(heightAt(corners, atX('90 %'))).toEqual(near(atY('10 ms')));
    expect(heightAt(corners, atX('99 %'))).toEqual(near(atY('1 s')));
  });

  it('shows no share that fewer than one request lies beyond', () => {
    const few = histogramOf(Array.from({ length: 150 }, (_, i) => i + 1));
    const rare: OperationReport = {
      ...OPERATION,
      operation: 'create_upload',
      latency_ms: quantilesOf(few),
      latency_distribution: distributionOf(few),
    };
    const { corners, atX } = drawn(percentileChart([rare, OPERATION]));
    expect(corners.at(-1)?.[0]).toBeGreaterThan(atX('99 %'));
    expect(corners.at(-1)?.[0]).toBeLessThan(atX('99.9 %'));
  });

  it('names its last share in full', () => {
    const text = percentileChart([OPERATION])?.text;
    expect(text).toMatch(/<text class="tick" text-anchor="end" x="1149" y="\d+">99.9 %</);
  });

  it('begins at a share of 0', () => {
    const { corners, atX } = drawn(percentileChart([OPERATION]));
    expect(corners[0]?.[0]).toBe(atX('0 %'));
  });
});

describe('cumulativeChart', () => {
  it('keeps a share constant until a value adds to it', () => {
    const { share, at } = distributionOf(histogramOf([...Array.from({ length: 3 }, () => 10), 1_000]));
    const chart = cumulativeChart('', '', [{ label: '', distribution: { share, at } }]);
    const { corners, atX, atY } = drawn(chart);
    const middle = (atX('10 ms') + atX('1 s')) / 2;
    expect(heightAt(corners, middle)).toEqual(near((3 * atY('80 %') + atY('60 %')) / 4));
  });
});
