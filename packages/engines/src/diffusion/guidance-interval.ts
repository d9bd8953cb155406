import { z } from 'zod';
import { cumulativeAlphas, type ScheduleParams } from './ddim';

/**
 * The noise levels at which classifier-free guidance is applied, low < σ ≤ high with σ = √((1−ᾱ)/ᾱ), ᾱ being the share
 * of signal: Kynkäänniemi et al. 2024 (https://arxiv.org/abs/2404.07724), who found it harmful above them and needless
 * below.
 */
export const guidanceIntervalSchema = z
  .strictObject({ low: z.number().nonnegative(), high: z.number().positive() })
  .refine(({ low, high }) => low < high, 'the interval begins below its end');

interface GuidanceParams {
  readonly schedule: ScheduleParams;
  readonly guidance: number;
  readonly guidanceInterval?: z.infer<typeof guidanceIntervalSchema> | undefined;
}

/** The scale of guidance at a timestep. Where it is 1, the unconditional prediction is not needed. */
export function createGuidanceScale({ schedule, guidance, guidanceInterval }: GuidanceParams) {
  if (guidanceInterval === undefined) return (): number => guidance;
  const { low, high } = guidanceInterval;
  const alphas = cumulativeAlphas(schedule);
  return (time: number): number => {
    const alpha = alphas[time] ?? NaN;
    const level = Math.sqrt((1 - alpha) / alpha);
    return low < level && level <= high ? guidance : 1;
  };
}
