import { colourAt, linearScale, logScale, type Markup, ninesScale } from '@lipsync/scripts';
import { milliseconds, percent } from '../format';
import { type Distribution, type OperationReport } from '../report';
import { type Line, lineChart } from './line-chart';

/** Latency against the share of requests that were no slower, with the last nines stretched. */
export function percentileChart(operations: readonly OperationReport[]): Markup | null {
  const lines = operations.map(({ operation, latency_ms, latency_distribution }, index): Line => {
    const { share: shares, at } = latency_distribution;
    // Only one request, the slowest, lies beyond this share, so no higher percentile can be given.
    const lastShare = 1 - 1 / (latency_ms?.count ?? 1);
    return {
      label: operation,
      colour: colourAt(index),
      // The fastest bucket spans from share 0 to its own share.
      points: [0, ...shares].map((share, i) => [Math.min(share, lastShare), at[Math.max(0, i - 1)] ?? 0]),
      style: 'step-before',
    };
  });
  const values = operations
    .flatMap(({ latency_distribution }) => latency_distribution.at)
    .filter((y) => y > 0);
  if (values.length === 0) return null;
  const most = Math.max(...operations.map(({ latency_ms }) => latency_ms?.count ?? 1));
  return lineChart({
    title: 'Latency distribution',
    subtitle: 'latency that a share of requests does not exceed',
    x: ninesScale(1 - 1 / most),
    y: logScale(Math.min(...values), Math.max(...values), milliseconds),
    lines,
    height: 320,
    isWide: true,
  });
}

export interface NamedDistribution {
  readonly label: string;
  readonly distribution: Distribution;
}

/** The share of all that took no longer, over a logarithmic time axis. */
export function cumulativeChart(
  title: string,
  subtitle: string,
  distributions: readonly NamedDistribution[],
  isWide = false,
): Markup | null {
  const lines = distributions
    .filter(({ distribution }) => distribution.at.length > 0)
    .map(({ label, distribution }, index): Line => {
      const first = distribution.at[0] ?? 0;
      return {
        label,
        colour: colourAt(index),
        points: [[first, 0], ...distribution.at.map((at, i) => [at, distribution.share[i] ?? 0] as const)],
        style: 'step-after',
      };
    });
  const values = lines.flatMap(({ points }) => points.map(([x]) => x)).filter((x) => x > 0);
  if (values.length === 0) return null;
  return lineChart({
    title,
    subtitle,
    x: logScale(Math.min(...values), Math.max(...values), milliseconds),
    y: linearScale(1, percent),
    lines,
    isWide,
  });
}
