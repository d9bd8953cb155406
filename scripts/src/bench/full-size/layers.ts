import { float, type GraphBuilder, type Value } from '@lipsync/model-pack';
import { type WeightFile } from './weight-file';

const GROUPS = 32;

export interface ConvOptions {
  readonly kernel?: number;
  readonly stride?: number;
  /** Before and after, in both directions. */
  readonly pads?: readonly [number, number];
}

export const NO_BIAS = { query: false, key: false, value: false };

export interface AttentionShape {
  readonly channels: number;
  readonly heads: number;
  /** Channels of what is asked. */
  readonly context: number;
  /** Which projections to the heads have a bias. */
  readonly bias: { readonly query: boolean; readonly key: boolean; readonly value: boolean };
}

/** The layers that the networks are made of, initialised as torch does it by default. */
export class Layers {
  constructor(
    readonly g: GraphBuilder,
    private readonly weights: WeightFile,
  ) {}

  /** [b, from, h, w] to [b, to, h', w']. */
  conv(x: Value, from: number, to: number, options: ConvOptions = {}): Value {
    const { kernel = 3, stride = 1, pads = [(kernel - 1) / 2, (kernel - 1) / 2] } = options;
    const [before, after] = pads;
    return this.convolved(x, [to, from, kernel, kernel], {
      kernel_shape: [kernel, kernel],
      strides: [stride, stride],
      pads: [before, before, after, after],
    });
  }

  /** [b, from, n] to [b, to, n / stride], three at a time. */
  conv1d(x: Value, from: number, to: number, stride: number): Value {
    return this.convolved(x, [to, from, 3], { kernel_shape: [3], strides: [stride], pads: [1, 1] });
  }

  /** [.., from] to [.., to]. */
  linear(x: Value, from: number, to: number, bias = true): Value {
    const product = this.g.op('MatMul', [x, this.random([from, to], from)]);
    return bias ? this.g.op('Add', [product, this.random([to], from)]) : product;
  }

  /** Each picture of [b, channels, h, w] on its own. */
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

  /** All pictures together, as those of a film. */
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

  /** Twice the height and the width. */
  enlarge(x: Value): Value {
    return this.g.op('Resize', [x, null, this.g.weights([4], [1, 1, 2, 2])], {
      mode: 'nearest',
      coordinate_transformation_mode: 'asymmetric',
      nearest_mode: 'floor',
    });
  }

  /** [b, c, side, side] to [b, side², c]. */
  toPlaces(x: Value, channels: number, places: number): Value {
    const flat = this.g.op('Reshape', [x, this.g.ints([0, channels, places])]);
    return this.g.op('Transpose', [flat], { perm: [0, 2, 1] });
  }

  /** Back again. */
  toPicture(x: Value, channels: number, side: number): Value {
    const turned = this.g.op('Transpose', [x], { perm: [0, 2, 1] });
    return this.g.op('Reshape', [turned, this.g.ints([0, channels, side, side])]);
  }

  /**
   * What every place of `x` [b, queries, channels] makes of `context` [b, keys, width]; ends with a projection. One operator
   * of ONNX Runtime, as in packs for GPUs: in single steps a picture of 512 pixels takes gigabytes.
   */
  attention(x: Value, context: Value, { channels, heads, context: width, bias }: AttentionShape): Value {
    const query = this.linear(x, channels, channels, bias.query);
    const key = this.linear(context, width, channels, bias.key);
    const value = this.linear(context, width, channels, bias.value);
    const heard = this.g.op('com.microsoft::MultiHeadAttention', [query, key, value], { num_heads: heads });
    return this.linear(heard, channels, channels);
  }

  /** Four times as many channels between, half of what is made letting the other half through (GEGLU). */
  feedForward(x: Value, channels: number): Value {
    const { g } = this;
    const [value, gate] = g.multi('Split', [this.linear(x, channels, 8 * channels)], 2, {
      axis: -1,
      num_outputs: 2,
    });
    if (!value || !gate) throw new Error('Split has two outputs here');
    return this.linear(g.op('Mul', [value, this.gelu(gate)]), 4 * channels, channels);
  }

  /** Weights whose sums over `fanIn` products are no larger than what goes in. */
  random(dims: readonly number[], fanIn: number): Value {
    return this.weights.add(this.g, dims, { spread: 1 / Math.sqrt(fanIn) });
  }

  private convolved(x: Value, dims: readonly number[], attributes: Record<string, readonly number[]>): Value {
    const [to = 0, ...each] = dims;
    const fanIn = each.reduce((product, dim) => product * dim, 1);
    return this.g.op('Conv', [x, this.random(dims, fanIn), this.random([to], fanIn)], attributes);
  }
}
