import { float, type GraphBuilder, type Value } from '@lipsync/model-pack';
import { type WeightFile } from './weight-file';

const GROUPS = 32;

export interface ConvOptions {
  readonly kernel?: number;
  readonly stride?: number;
  /** Padding before and after, in both dimensions. */
  readonly pads?: readonly [number, number];
}

export const NO_BIAS = { query: false, key: false, value: false };

export interface AttentionShape {
  readonly channels: number;
  readonly heads: number;
  /** Channels of the context that is attended to. */
  readonly context: number;
  /** Which of the head projections have a bias. */
  readonly bias: { readonly query: boolean; readonly key: boolean; readonly value: boolean };
}

/** The layers that the networks consist of, with torch's default initialisation. */
export class Layers {
  constructor(
    readonly g: GraphBuilder,
    private readonly weights: WeightFile,
  ) {}

  /** Maps [b, from, h, w] to [b, to, h', w']. */
  conv(x: Value, from: number, to: number, options: ConvOptions = {}): Value {
    const { kernel = 3, stride = 1, pads = [(kernel - 1) / 2, (kernel - 1) / 2] } = options;
    const [before, after] = pads;
    return this.convolved(x, [to, from, kernel, kernel], {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [before, before, after, after],
    });
  }

  /** Maps [b, from, n] to [b, to, n / stride], with a kernel of three. */
  conv1d(x: Value, from: number, to: number, stride: number): Value {
    return this.convolved(x, [to, from, 3], { kernel_shape: [3], strides: [stride], pads: [1, 1] });
  }

  /** Maps [.., from] to [.., to]. */
  linear(x: Value, from: number, to: number, bias = true): Value {
    const product = this.g.op('MatMul', [x, this.random([from, to], from)]);
    return bias ? this.g.op('Add', [product, this.random([to], from)]) : product;
  }

  /** Normalises each picture of [b, channels, h, w] separately. */
  groupNorm(x: Value, channels: number, epsilon: number): Value {
    const { g } = this;
    const grouped = g.op('Reshape', [x, g.ints([0, GROUPS, -1])]);
    const [one, zero] = [new Float32Array(GROUPS).fill(1), new Float32Array(GROUPS)];
    const normal = g.op(
      'InstanceNormalization',
      [grouped, g.weights([GROUPS], one), g.weights([GROUPS], zero)],
      { epsilon: float(epsilon) },
    );
    const shaped = g.op('Reshape', [normal, g.op('Shape', [x])]);
    const scaled = g.op('Mul', [shaped, this.weights.add(g, [channels, 1, 1], 1)]);
    return g.op('Add', [scaled, this.weights.add(g, [channels, 1, 1], 0)]);
  }

  /** Normalises all pictures together, as the frames of one clip. */
  groupNormOfFilm(x: Value, channels: number, epsilon: number): Value {
    const { g } = this;
    const film = g.op('Transpose', [x], { perm: [1, 0, 2, 3] });
    const one = g.op('Reshape', [film, g.ints([1, channels, -1, 1])]);
    const normal = g.op('Reshape', [this.groupNorm(one, channels, epsilon), g.op('Shape', [film])]);
    return g.op('Transpose', [normal], { perm: [1, 0, 2, 3] });
  }

  layerNorm(x: Value, channels: number): Value {
    const [scale, bias] = [this.weights.add(this.g, [channels], 1), this.weights.add(this.g, [channels], 0)];
    return this.g.op('LayerNormalization', [x, scale, bias], { axis: -1, epsilon: float(1e-5) });
  }

  silu(x: Value): Value {
    return this.g.op('Mul', [x, this.g.op('Sigmoid', [x])]);
  }

  gelu(x: Value): Value {
    return this.g.op('Gelu', [x]);
  }

  add(x: Value, y: Value): Value {
    return this.g.op('Add', [x, y]);
  }

  /** Doubles height and width. */
  enlarge(x: Value): Value {
    return this.g.op('Resize', [x, null, this.g.weights([4], [1, 1, 2, 2])], {
      mode: 'nearest',
      coordinate_transformation_mode: 'asymmetric',
      nearest_mode: 'floor',
    });
  }

  /** Maps [b, c, side, side] to [b, side², c]. */
  toPlaces(x: Value, channels: number, places: number): Value {
    const flat = this.g.op('Reshape', [x, this.g.ints([0, channels, places])]);
    return this.g.op('Transpose', [flat], { perm: [0, 2, 1] });
  }

  /** The inverse of `toPlaces`. */
  toPicture(x: Value, channels: number, side: number): Value {
    const turned = this.g.op('Transpose', [x], { perm: [0, 2, 1] });
    return this.g.op('Reshape', [turned, this.g.ints([0, channels, side, side])]);
  }

  /**
   * Attention of `x` [b, queries, channels] over `context` [b, keys, width], with an output projection. One operator of
   * ONNX Runtime, as in packs for GPUs: as single operations, a picture of 512 pixels takes gigabytes.
   */
  attention(x: Value, context: Value, { channels, heads, context: width, bias }: AttentionShape): Value {
    const query = this.linear(x, channels, channels, bias.query);
    const key = this.linear(context, width, channels, bias.key);
    const value = this.linear(context, width, channels, bias.value);
    const heard = this.g.op('com.microsoft::MultiHeadAttention', [query, key, value], { num_heads: heads });
    return this.linear(heard, channels, channels);
  }

  /** A GEGLU feed-forward layer: four times as many channels inside, gated by as many others. */
  feedForward(x: Value, channels: number): Value {
    const { g } = this;
    const [value, gate] = g.multi('Split', [this.linear(x, channels, 8 * channels)], 2, {
      axis: -1,
      num_outputs: 2,
    });
    if (!value || !gate) throw new Error('Split has two outputs here');
    return this.linear(g.op('Mul', [value, this.gelu(gate)]), 4 * channels, channels);
  }

  /** Random weights scaled so that a sum over `fanIn` products is no larger than its inputs. */
  random(dims: readonly number[], fanIn: number): Value {
    return this.weights.add(this.g, dims, { spread: 1 / Math.sqrt(fanIn) });
  }

  private convolved(x: Value, dims: readonly number[], attributes: Record<string, readonly number[]>): Value {
    const [to = 0, ...each] = dims;
    const fanIn = each.reduce((product, dim) => product * dim, 1);
    return this.g.op('Conv', [x, this.random(dims, fanIn), this.random([to], fanIn)], attributes);
  }
}
