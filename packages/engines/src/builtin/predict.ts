import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { type PredictionFactors } from './prediction-factors';

/** What a network predicts for a noisy latent at `timestep` (int64 [1]), as two summands. */
export interface Prediction {
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
