import { type Value } from '@lipsync/model-pack';
import { type Layers } from './layers';

/** The embedding of the diffusion timestep, [1, width]. */
export interface TimeCode {
  readonly value: Value;
  readonly width: number;
}

export interface ResidualShape {
  readonly from: number;
  readonly to: number;
  readonly norm: (x: Value, channels: number) => Value;
  readonly time?: TimeCode;
}

/** Two convolutions with a skip connection; ResnetBlock2D of diffusers. */
export function residualBlock(layers: Layers, x: Value, { from, to, norm, time }: ResidualShape): Value {
  const { g } = layers;
  let y = layers.conv(layers.silu(norm(x, from)), from, to);
  if (time !== undefined) {
    const shift = layers.linear(layers.silu(time.value), time.width, to);
    y = layers.add(y, g.op('Unsqueeze', [shift, g.ints([2, 3])]));
  }
  y = layers.conv(layers.silu(norm(y, to)), to, to);
  return layers.add(from === to ? x : layers.conv(x, from, to, { kernel: 1 }), y);
}
