import { type Value } from '@lipsync/model-pack';
import { type Layers, NO_BIAS } from './layers';

export interface TransformerShape {
  readonly channels: number;
  readonly heads: number;
  /** Side of the picture. */
  readonly side: number;
}

/** Audio [b, steps, width], and the gain on its attention relative to how it was trained. */
export interface Heard {
  readonly audio: Value;
  readonly width: number;
  readonly gain?: number;
}

export interface TransformerSenses {
  /** What the positions of a picture attend to, given their normalised states; by default these states themselves. */
  readonly seen?: (places: Value) => Value;
  /** Default: no audio. */
  readonly heard?: Heard;
}

/**
 * Every position of a picture [b, channels, side, side] attends to all its positions, then to the audio;
 * Transformer2DModel of diffusers.
 */
export function transformer(
  layers: Layers,
  x: Value,
  shape: TransformerShape,
  { seen = (places) => places, heard }: TransformerSenses,
): Value {
  const { channels, heads, side } = shape;
  const asking = { channels, heads, bias: NO_BIAS };
  const { places, normal } = placesOf(layers, x, shape);
  let y = layers.add(places, layers.attention(normal, seen(normal), { ...asking, context: channels }));
  if (heard) {
    const { audio, width, gain } = heard;
    const listened = layers.attention(layers.layerNorm(y, channels), audio, { ...asking, context: width });
    y = layers.add(y, gain === undefined ? listened : layers.g.op('Mul', [listened, gain]));
  }
  y = layers.add(y, layers.feedForward(layers.layerNorm(y, channels), channels));
  return layers.add(x, layers.conv(layers.toPicture(y, channels, side), channels, channels, { kernel: 1 }));
}

/**
 * The positions of a picture as the transformer's residual stream, and normalised for attention; both [b, side²,
 * channels].
 */
export function placesOf(layers: Layers, x: Value, { channels, side }: TransformerShape) {
  const still = layers.conv(layers.groupNorm(x, channels, 1e-6), channels, channels, { kernel: 1 });
  const places = layers.toPlaces(still, channels, side * side);
  return { places, normal: layers.layerNorm(places, channels) };
}
