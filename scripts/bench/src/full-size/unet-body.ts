import { type Value } from '@lipsync/model-pack';
import { type Layers } from './layers';
import { residualBlock, type TimeCode } from './residual-block';

/** The dimensions of a UNet of diffusers, see its `config.json`. */
export interface UnetShape {
  /** Channels of each level. */
  readonly levels: readonly number[];
  readonly heads: number;
  readonly inputs: number;
  readonly outputs: number;
  /** Side of the latent. */
  readonly side: number;
}

/** A position in the network: the number of channels there, and the side of the pictures. */
export interface Place {
  readonly channels: number;
  readonly side: number;
}

/** The parts in which the UNets differ. */
export interface UnetKind {
  readonly norm: (x: Value, channels: number) => Value;
  /**
   * Applied after every residual block except those at the lowest resolution, and between the two blocks in the middle.
   */
  readonly transform: (x: Value, place: Place) => Value;
  /** Applied after every layer on the way down and on the way up. */
  readonly afterLayer: (x: Value, place: Place) => Value;
  /** Applied after the transformer in the middle. */
  readonly inMiddle: (x: Value, place: Place) => Value;
}

const LAYERS_PER_LEVEL = 2;
const EPSILON = 1e-5;
/** TensorProto.DataType. */
const FLOAT = 1;

/**
 * Down through the levels and up again: maps latent [b, inputs, side, side] and timestep [1] to [b, levels[0], side,
 * side].
 */
export function unetBody(
  layers: Layers,
  latent: Value,
  timestep: Value,
  { levels, inputs, side }: UnetShape,
  { norm, transform, afterLayer, inMiddle }: UnetKind,
): Value {
  const { g } = layers;
  const [first = 0] = levels;
  const last = levels.length - 1;
  const at = (level: number): Place => ({ channels: levels[level] ?? 0, side: side / 2 ** level });
  const time = timeCode(layers, timestep, first);
  const residual = (x: Value, from: number, to: number): Value =>
    residualBlock(layers, x, { from, to, norm, time });
  const layer = (x: Value, from: number, level: number): Value => {
    const place = at(level);
    const y = residual(x, from, place.channels);
    return afterLayer(level < last ? transform(y, place) : y, place);
  };

  let x = layers.conv(latent, inputs, first);
  const skipped: { value: Value; channels: number }[] = [{ value: x, channels: first }];
  for (let level = 0, from = first; level <= last; level++) {
    const to = at(level).channels;
    for (let i = 0; i < LAYERS_PER_LEVEL; i++, from = to) {
      x = layer(x, from, level);
      skipped.push({ value: x, channels: to });
    }
    if (level < last) {
      x = layers.conv(x, to, to, { stride: 2 });
      skipped.push({ value: x, channels: to });
    }
  }

  const deepest = at(last);
  x = inMiddle(transform(residual(x, deepest.channels, deepest.channels), deepest), deepest);
  x = residual(x, deepest.channels, deepest.channels);

  for (let level = last, from = deepest.channels; level >= 0; level--) {
    const to = at(level).channels;
    for (let i = 0; i <= LAYERS_PER_LEVEL; i++, from = to) {
      const skip = skipped.pop();
      if (!skip) throw new Error('the way up has more layers than the way down');
      x = layer(g.op('Concat', [x, skip.value], { axis: 1 }), from + skip.channels, level);
    }
    if (level > 0) x = layers.conv(layers.enlarge(x), to, to);
  }
  return x;
}

/** The group norm of a UNet for pictures, which normalises each separately. */
export function pictureNorm(layers: Layers): UnetKind['norm'] {
  return (x, channels) => layers.groupNorm(x, channels, EPSILON);
}

/** The group norm of a UNet for clips. */
export function filmNorm(layers: Layers): UnetKind['norm'] {
  return (x, channels) => layers.groupNormOfFilm(x, channels, EPSILON);
}

/** The number of transformers in a UNet of this shape. */
export function transformersOf({ levels }: UnetShape): number {
  return (levels.length - 1) * (2 * LAYERS_PER_LEVEL + 1) + 1;
}

/** The output layers: map [b, levels[0], side, side] to [b, outputs, side, side]. */
export function unetEnd(
  layers: Layers,
  x: Value,
  { levels: [first = 0], outputs }: UnetShape,
  { norm }: Pick<UnetKind, 'norm'>,
): Value {
  return layers.conv(layers.silu(norm(x, first)), first, outputs);
}

/** The timestep embedding: cosines and sines of the timestep at falling frequencies, and two layers. */
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
