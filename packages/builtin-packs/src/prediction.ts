import { cumulativeAlphas, type ScheduleParams } from '@lipsync/engines';
import { type GraphBuilder, type Value } from '@lipsync/model-pack';

/** What a network predicts for a noisy latent at `timestep` (int64 [1]), as two summands. */
interface Prediction {
  /** The summand of the noisy latent. It is the whole prediction if the clean latent is 0. */
  ofNoisy(latent: Value): Value;
  /** The summand of the clean latent. */
  ofClean(latent: Value): Value;
}

/**
 * A prediction under classifier-free guidance, in which the sampler follows u + guidance·(c − u). Here u is the
 * prediction for a clean latent of 0, and c that for a clean latent divided by `guidance`, so that the sampler follows
 * the prediction for the clean latent itself.
 */
export function predict(
  g: GraphBuilder,
  timestep: Value,
  { noisy, clean }: PredictionFactors,
  guidance: number,
): Prediction {
  const part = (table: Float32Array) => {
    const factor = g.op('Gather', [g.weights([table.length], table), timestep]);
    return (latent: Value): Value => g.op('Mul', [latent, factor]);
  };
  return { ofNoisy: part(noisy), ofClean: part(clean.map((value) => value / guidance)) };
}

/**
 * Whether the sampler has reached the last quarter of the training steps, where the samplers of four steps and more
 * end. The result is the clean latent of the last prediction, whatever was predicted before, so a network that draws
 * only here gives the same pictures in a fraction of the time: coarse first, as trained networks do, details last.
 */
export function isLate(g: GraphBuilder, timestep: Value, { trainSteps }: ScheduleParams): Value {
  return g.op('Less', [timestep, g.ints([trainSteps / 4])]);
}

/**
 * For a noisy latent x at training step t, a network that knows the clean latent x₀ predicts `noisy[t]·x +
 * clean[t]·x₀`.
 */
interface PredictionFactors {
  readonly noisy: Float32Array;
  readonly clean: Float32Array;
}

/**
 * The predictions that lead a DDIM sampler (https://arxiv.org/abs/2010.02502, η = 0) with this schedule to the clean
 * latent. On the way x = √α·x₀ + √(1−α)·ε, which gives ε, and v = √α·ε − √(1−α)·x₀.
 */
export function predictionFactors(schedule: ScheduleParams): PredictionFactors {
  const alphas = cumulativeAlphas(schedule);
  const factors = Array.from(alphas, (alpha) => {
    const [signal, noise] = [Math.sqrt(alpha), Math.sqrt(1 - alpha)];
    return schedule.prediction === 'epsilon'
      ? { noisy: 1 / noise, clean: -signal / noise }
      : { noisy: signal / noise, clean: -1 / noise };
  });
  const ending = endOf(schedule, alphas);
  if (ending !== null) factors[ending.time] = ending;
  return {
    noisy: Float32Array.from(factors, ({ noisy }) => noisy),
    clean: Float32Array.from(factors, ({ clean }) => clean),
  };
}

/**
 * A schedule that ends at the first training step's alpha leaves √(1−α) of the predicted noise in its result. That is
 * invisible in a learned latent, but four gray levels in a latent of plain pixels. Its last step, always at the same
 * time, therefore predicts the ε that makes the result x₀. Null for a schedule that ends without noise.
 */
function endOf(
  { prediction, spacing, finalAlpha, stepsOffset }: ScheduleParams,
  alphas: Float64Array,
): { time: number; noisy: number; clean: number } | null {
  if (finalAlpha === 'one') return null;
  const [first, alpha] = [alphas[0], alphas[stepsOffset]];
  if (prediction !== 'epsilon' || spacing !== 'leading' || first === undefined || alpha === undefined)
    throw new RangeError('only for noise, and leading steps, is the last step known');
  // x' = stretch·x + (√(1−first) − stretch·√(1−α))·ε, which must equal x₀.
  const stretch = Math.sqrt(first / alpha);
  const weight = Math.sqrt(1 - first) - stretch * Math.sqrt(1 - alpha);
  return { time: stepsOffset, noisy: -stretch / weight, clean: 1 / weight };
}
