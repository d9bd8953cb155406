import { type Value } from '@lipsync/model-pack';
import { type Layers, NO_BIAS } from './layers';

export interface TransformerShape {
  readonly channels: number;
  readonly heads: number;
  /** Side of the picture. */
  readonly side: number;
  readonly heard: { readonly steps: number; readonly width: number };
}

/**
 * Every place of a picture [b, channels, side, side] looks at all others of it, then listens to audio [b, steps, width];
 * Transformer2DModel of diffusers.
 */
export function transformer(layers: Layers, x: Value, audio: Value, shape: TransformerShape): Value {
  const { channels, heads, side, heard } = shape;
  const places = side * side;
  const asking = { channels, heads, queries: places, bias: NO_BIAS };
  const still = layers.conv(layers.groupNorm(x, channels, 1e-6), channels, channels, { kernel: 1 });
  let y = layers.toPlaces(still, channels, places);
  const normal = layers.layerNorm(y, channels);
  y = layers.add(y, layers.attention(normal, normal, { ...asking, keys: places, context: channels }));
  const listening = { ...asking, keys: heard.steps, context: heard.width };
  y = layers.add(y, layers.attention(layers.layerNorm(y, channels), audio, listening));
  y = layers.add(y, layers.feedForward(layers.layerNorm(y, channels), channels));
  return layers.add(x, layers.conv(layers.toPicture(y, channels, side), channels, channels, { kernel: 1 }));
}
