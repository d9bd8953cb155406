import { type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';
import { Layers } from './layers';
import { residualBlock } from './residual-block';
import { type WeightFile } from './weight-file';

/** The dimensions of an AutoencoderKL of diffusers. */
export interface AutoencoderShape {
  readonly levels: readonly number[];
  readonly latent: number;
  /** Side of the picture in pixels. */
  readonly resolution: number;
}

const LAYERS_PER_LEVEL = 2;
const EPSILON = 1e-6;
const BIAS = { query: true, key: true, value: true };

/** Maps image [b, 3, resolution, resolution] to latent [b, 2 × latent, ..]: mean, then log-variance. */
export function autoencoderEncoder(shape: AutoencoderShape, weights: WeightFile): Graph {
  const { levels, latent, resolution } = shape;
  const { g, layers, residual, middle, side } = parts('vae_encoder', shape, weights);
  let from = levels[0] ?? 0;
  let x = layers.conv(g.input('image', 'float32', ['batch', 3, resolution, resolution]), 3, from);
  levels.forEach((to, level) => {
    for (let layer = 0; layer < LAYERS_PER_LEVEL; layer++, from = to) x = residual(x, from, to);
    if (level < levels.length - 1) x = layers.conv(x, to, to, { stride: 2, pads: [0, 1] });
  });
  x = layers.silu(layers.groupNorm(middle(x), from, EPSILON));
  x = layers.conv(layers.conv(x, from, 2 * latent), 2 * latent, 2 * latent, { kernel: 1 });
  g.output('moments', x, 'float32', ['batch', 2 * latent, side, side]);
  return g.build();
}

/** Maps latent [b, latent, ..] to image [b, 3, resolution, resolution]. */
export function autoencoderDecoder(shape: AutoencoderShape, weights: WeightFile): Graph {
  const { latent, resolution } = shape;
  const levels = [...shape.levels].reverse();
  const { g, layers, residual, middle, side } = parts('vae_decoder', shape, weights);
  const input = g.input('latent', 'float32', ['batch', latent, side, side]);
  let from = levels[0] ?? 0;
  let x = middle(layers.conv(layers.conv(input, latent, latent, { kernel: 1 }), latent, from));
  levels.forEach((to, level) => {
    for (let layer = 0; layer <= LAYERS_PER_LEVEL; layer++, from = to) x = residual(x, from, to);
    if (level < levels.length - 1) x = layers.conv(layers.enlarge(x), to, to);
  });
  x = layers.conv(layers.silu(layers.groupNorm(x, from, EPSILON)), from, 3);
  g.output('image', x, 'float32', ['batch', 3, resolution, resolution]);
  return g.build();
}

function parts(name: string, { levels, resolution }: AutoencoderShape, weights: WeightFile) {
  const g = new GraphBuilder(name);
  const layers = new Layers(g, weights);
  const channels = levels[levels.length - 1] ?? 0;
  const side = resolution / 2 ** (levels.length - 1);
  const places = side * side;
  const residual = (x: Value, from: number, to: number): Value =>
    residualBlock(layers, x, { from, to, norm: (y, width) => layers.groupNorm(y, width, EPSILON) });
  const look = (x: Value): Value => {
    const y = layers.toPlaces(layers.groupNorm(x, channels, EPSILON), channels, places);
    const all = { channels, heads: 1, context: channels, bias: BIAS };
    return layers.add(x, layers.toPicture(layers.attention(y, y, all), channels, side));
  };
  const middle = (x: Value): Value => residual(look(residual(x, channels, channels)), channels, channels);
  return { g, layers, residual, middle, side };
}
