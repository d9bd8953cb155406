import { type ScheduleParams } from '../diffusion/schedule-params';
import { type HighsyncParams } from './highsync-params';

/** Side of the face crop, pixels: half of the official 512, because a CPU computes every cell at every step. */
export const RESOLUTION = 256;
export const WINDOW = 12;
export const OVERLAP = 3;
export const GUIDANCE = 3.5;
export const SEED = 42;
/** Frames that are denoised together: about 200 MiB of latents. */
export const STRETCH = 96;

/** The schedule of the official weights (saeed5959/high_sync, configs/inference), except for the number of steps. */
export const SCHEDULE: ScheduleParams = {
  trainSteps: 1000,
  betaStart: 0.00085,
  betaEnd: 0.012,
  betaSchedule: 'linear',
  prediction: 'v_prediction',
  spacing: 'trailing',
  stepsOffset: 1,
  finalAlpha: 'one',
  zeroTerminalSnr: true,
  steps: 4,
};

/** The generated rectangle in a latent of 32×32 cells (saeed5959/high_sync, masks/mask_32). */
export const MASK: HighsyncParams['mask'] = { top: 14, bottom: 29, left: 3, right: 28 };
