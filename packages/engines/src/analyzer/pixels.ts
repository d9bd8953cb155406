import { type GraphBuilder, type Value } from '@lipsync/model-pack';

/**
 * Converts interleaved 8-bit RGB [n, h, w, 3] to planar floats: (value − mean) / 255, as both networks were trained.
 */
export function normalisedPixels(
  g: GraphBuilder,
  rgb: Value,
  mean: readonly [number, number, number],
): Value {
  const planar = g.op('Transpose', [g.op('Cast', [rgb], { to: 1 })], { perm: [0, 3, 1, 2] });
  const centred = g.op('Sub', [planar, g.weights([1, 3, 1, 1], mean)]);
  return g.op('Div', [centred, 255]);
}
