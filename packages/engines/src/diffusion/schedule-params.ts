import { z } from 'zod';
import { type NoiseSchedule } from './ddim-schedule';

/** A DDIM noise schedule (https://arxiv.org/abs/2010.02502, η = 0), in the terms of diffusers' DDIMScheduler. */
export const scheduleSchema = z
  .strictObject({
    trainSteps: z.int().positive(),
    betaStart: z.number().positive().lt(1),
    betaEnd: z.number().positive().lt(1),
    /** 'scaled_linear': linear in the square root of beta. */
    betaSchedule: z.enum(['linear', 'scaled_linear']),
    prediction: z.enum(['epsilon', 'v_prediction']),
    spacing: z.enum(['leading', 'trailing']),
    /** Added to every timestep of leading spacing. */
    stepsOffset: z.int().nonnegative(),
    /** Cumulative alpha after the last step: exactly one, or that of the first training step. */
    finalAlpha: z.enum(['one', 'first']),
    /** Betas rescaled so that the last training step is pure noise (https://arxiv.org/abs/2305.08891). */
    zeroTerminalSnr: z.boolean(),
    /** The number of steps or, for distilled networks, the exact timesteps in decreasing order. */
    steps: z.union([z.int().positive(), z.array(z.int().nonnegative()).min(1)]),
  })
  .refine(({ steps, trainSteps }) => typeof steps !== 'number' || steps <= trainSteps, {
    path: ['steps'],
    message: 'there are no more steps than the network was trained with',
  })
  .refine((schedule) => firstTime(schedule) < schedule.trainSteps, {
    path: ['steps'],
    message: 'no step lies beyond those that the network was trained with',
  })
  .refine(({ steps }) => typeof steps === 'number' || isFalling(steps), {
    path: ['steps'],
    message: 'timesteps fall',
  });

export type ScheduleParams = z.infer<typeof scheduleSchema>;

/** The largest timestep that is requested. */
function firstTime(schedule: NoiseSchedule): number {
  const { steps, trainSteps, spacing, stepsOffset } = schedule;
  if (typeof steps !== 'number') return Math.max(...steps);
  // Trailing spacing begins with the last training step, whatever the number of steps.
  if (spacing === 'trailing') return trainSteps - 1;
  return (steps - 1) * Math.floor(trainSteps / steps) + stepsOffset;
}

function isFalling(times: readonly number[]): boolean {
  return times.every((time, i) => i === 0 || time < (times[i - 1] ?? 0));
}
