import { mean } from './spread';

/** Pearson's correlation of two series of equal length; 0 where either is constant. */
export function pearson(a: readonly number[], b: readonly number[]): number {
  const meanA = mean(a);
  const meanB = mean(b);
  let covariance = 0;
  let varianceA = 0;
  let varianceB = 0;
  a.forEach((value, i) => {
    const deltaA = value - meanA;
    const deltaB = (b[i] ?? 0) - meanB;
    covariance += deltaA * deltaB;
    varianceA += deltaA * deltaA;
    varianceB += deltaB * deltaB;
  });
  return varianceA === 0 || varianceB === 0 ? 0 : covariance / Math.sqrt(varianceA * varianceB);
}

export interface LaggedCorrelation {
  /** Frames by which `follower` lags behind `leader`; negative if it is ahead. */
  lagFrames: number;
  pearson: number;
}

/**
 * Correlation of `follower[i + lag]` with `leader[i]` for every lag in ±maxLag. Null entries (frames without a measured
 * face) are ignored pair by pair.
 */
export function correlateAtLags(
  leader: readonly number[],
  follower: readonly (number | null)[],
  maxLag: number,
): LaggedCorrelation[] {
  const lags = Array.from({ length: 2 * maxLag + 1 }, (_, k) => k - maxLag);
  return lags.map((lagFrames) => {
    const pairs = leader.flatMap((value, i) => {
      const followed = follower[i + lagFrames];
      return followed == null ? [] : [[value, followed] as const];
    });
    return {
      lagFrames,
      pearson: pearson(
        pairs.map(([x]) => x),
        pairs.map(([, y]) => y),
      ),
    };
  });
}

export function bestCorrelation(correlations: readonly LaggedCorrelation[]): LaggedCorrelation {
  return correlations.reduce((best, next) => (next.pearson > best.pearson ? next : best));
}
