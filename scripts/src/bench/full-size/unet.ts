import { type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';
import { Layers } from './layers';
import { motionModule } from './motion-module';
import { residualBlock, type TimeCode } from './residual-block';
import { transformer } from './transformer';
import { type WeightFile } from './weight-file';

/** What a UNet of diffusers is made of, see its `config.json`. */
export interface UnetShape {
  /** Channels of each level. */
  readonly levels: readonly number[];
  readonly heads: number;
  readonly inputs: number;
  readonly outputs: number;
  /** Side of the latent. */
  readonly side: number;
  /** What is heard per picture. */
  readonly heard: { readonly steps: number; readonly width: number };
}

const LAYERS_PER_LEVEL = 2;
const EPSILON = 1e-5;
/** TensorProto.DataType. */
const FLOAT = 1;

/**
 * Stable Diffusion 1.5's UNet that listens instead of reading, as MuseTalk has it: latent [b, inputs, side, side],
 * timestep [1], audio [b, steps, width].
 */
export function unet(shape: UnetShape, weights: WeightFile): Graph {
  const g = new GraphBuilder('unet');
  const layers = new Layers(g, weights);
  const { inputs, outputs, side } = shape;
  const latent = g.input('latent', 'float32', ['batch', inputs, side, side]);
  const predicted = unetBody(layers, latent, 'batch', shape, {
    norm: (x, channels) => layers.groupNorm(x, channels, EPSILON),
    afterLayer: (x) => x,
  });
  g.output('predicted', predicted, 'float32', ['batch', outputs, side, side]);
  return g.build();
}

/**
 * The same for a film, as LatentSync has it: latent [1, inputs, frames, side, side], timestep [1], audio [frames, steps,
 * width]. Group norms take their statistics over all frames, and between the layers frames look at each other.
 */
export function unet3d(shape: UnetShape, weights: WeightFile): Graph {
  const g = new GraphBuilder('unet3d');
  const layers = new Layers(g, weights);
  const { inputs, outputs, side, heads } = shape;
  const film = g.input('latent', 'float32', [1, inputs, 'frames', side, side]);
  const latent = g.op('Transpose', [g.op('Squeeze', [film, g.ints([0])])], { perm: [1, 0, 2, 3] });
  const predicted = unetBody(layers, latent, 'frames', shape, {
    norm: (x, channels) => layers.groupNormOfFilm(x, channels, EPSILON),
    afterLayer: (x, channels, size) => motionModule(layers, x, { channels, heads, side: size }),
  });
  const filmed = g.op('Unsqueeze', [g.op('Transpose', [predicted], { perm: [1, 0, 2, 3] }), g.ints([0])]);
  g.output('predicted', filmed, 'float32', [1, outputs, 'frames', side, side]);
  return g.build();
}

/** In what the UNet for pictures and that for films differ. */
interface UnetKind {
  readonly norm: (x: Value, channels: number) => Value;
  /** What follows every layer on the way down and on the way up. */
  readonly afterLayer: (x: Value, channels: number, side: number) => Value;
}

/** Down through the levels and up again, [pictures, inputs, side, side] to [pictures, outputs, side, side]. */
function unetBody(layers: Layers, latent: Value, pictures: string, shape: UnetShape, kind: UnetKind): Value {
  const { g } = layers;
  const { levels, inputs, outputs, side, heard, heads } = shape;
  const timestep = g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', [pictures, heard.steps, heard.width]);
  const { norm, afterLayer } = kind;
  const [first = 0] = levels;
  const last = levels.length - 1;
  const channelsOf = (level: number): number => levels[level] ?? 0;
  const time = timeCode(layers, timestep, first);
  const residual = (x: Value, from: number, to: number): Value =>
    residualBlock(layers, x, { from, to, norm, time });
  const listen = (x: Value, level: number): Value =>
    transformer(layers, x, audio, { heads, heard, channels: channelsOf(level), side: side / 2 ** level });
  const layer = (x: Value, from: number, level: number): Value => {
    const to = channelsOf(level);
    const y = residual(x, from, to);
    return afterLayer(level < last ? listen(y, level) : y, to, side / 2 ** level);
  };

  let x = layers.conv(latent, inputs, first);
  const skipped: { value: Value; channels: number }[] = [{ value: x, channels: first }];
  for (let level = 0, from = first; level <= last; level++) {
    const to = channelsOf(level);
    for (let i = 0; i < LAYERS_PER_LEVEL; i++, from = to) {
      x = layer(x, from, level);
      skipped.push({ value: x, channels: to });
    }
    if (level < last) {
      x = layers.conv(x, to, to, { stride: 2 });
      skipped.push({ value: x, channels: to });
    }
  }

  const deepest = channelsOf(last);
  x = residual(listen(residual(x, deepest, deepest), last), deepest, deepest);

  for (let level = last, from = deepest; level >= 0; level--) {
    const to = channelsOf(level);
    for (let i = 0; i <= LAYERS_PER_LEVEL; i++, from = to) {
      const skip = skipped.pop();
      if (!skip) throw new Error('the way up has more layers than the way down');
      x = layer(g.op('Concat', [x, skip.value], { axis: 1 }), from + skip.channels, level);
    }
    if (level > 0) x = layers.conv(layers.enlarge(x), to, to);
  }
  return layers.conv(layers.silu(norm(x, first)), first, outputs);
}

/** Cosines and sines of the time at falling frequencies, and two layers. */
function timeCode(layers: Layers, timestep: Value, channels: number): TimeCode {
  const { g } = layers;
  const half = channels / 2;
  const frequencies = Array.from({ length: half }, (_, i) => Math.exp((-Math.log(10_000) * i) / half));
  const angles = g.op('Mul', [g.op('Cast', [timestep], { to: FLOAT }), g.weights([1, half], frequencies)]);
  const waves = g.op('Concat', [g.op('Cos', [angles]), g.op('Sin', [angles])], { axis: 1 });
  const width = 4 * channels;
  const value = layers.linear(layers.silu(layers.linear(waves, channels, width)), width, width);
  return { value, width };
}
