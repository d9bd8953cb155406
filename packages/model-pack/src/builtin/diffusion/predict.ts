import { type GraphBuilder, type Value } from '../../onnx';
import { type PredictionFactors } from './prediction-factors';

/** What the sampler is told about a noisy latent at `timestep` (int64 [1]), in two summands. */
export interface Prediction {
  /** The part that the noisy latent has in it, which is all of it when the clean one is 0. */
  ofNoisy(latent: Value): Value;
  /** The part of the clean latent. */
  ofClean(latent: Value): Value;
}

/**
 * A prediction under classifier-free guidance, where the sampler follows u + guidance·(c − u): u is taken for a clean
 * latent of 0, and c for one that much too weak, so that the sampler follows the prediction for the clean latent itself.
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
