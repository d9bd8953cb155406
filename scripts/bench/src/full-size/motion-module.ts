import { type Value } from '@lipsync/model-pack';
import { type Layers, NO_BIAS } from './layers';

const ATTENTIONS = 2;

export interface MotionShape {
  readonly channels: number;
  readonly heads: number;
  /** Side of the pictures. */
  readonly side: number;
  /** The largest number of frames that have positional codes. */
  readonly mostFrames: number;
}

/**
 * Temporal self-attention: every position of a clip [frames, channels, side, side] attends twice to the same position
 * in all frames (AnimateDiff, https://arxiv.org/abs/2307.04725).
 */
export function motionModule(layers: Layers, x: Value, shape: MotionShape): Value {
  const { channels, heads, side, mostFrames } = shape;
  const { g } = layers;
  const frames = g.op('Gather', [g.op('Shape', [x]), g.ints([0])]);
  const order = g.op('Slice', [
    g.weights([1, mostFrames, channels], frameCodes(mostFrames, channels)),
    g.ints([0]),
    frames,
    g.ints([1]),
  ]);
  const turned = g.op('Transpose', [layers.groupNorm(x, channels, 1e-6)], { perm: [2, 3, 0, 1] });
  let y = layers.linear(g.op('Reshape', [turned, g.ints([side * side, -1, channels])]), channels, channels);
  const all = { channels, heads, context: channels, bias: NO_BIAS };
  for (let i = 0; i < ATTENTIONS; i++) {
    const placed = layers.add(layers.layerNorm(y, channels), order);
    y = layers.add(y, layers.attention(placed, placed, all));
  }
  y = layers.add(y, layers.feedForward(layers.layerNorm(y, channels), channels));
  const back = g.op('Reshape', [layers.linear(y, channels, channels), g.ints([side, side, -1, channels])]);
  return layers.add(x, g.op('Transpose', [back], { perm: [2, 3, 0, 1] }));
}

/** Sinusoidal codes of the frame index, [frames, channels]. */
function frameCodes(frames: number, channels: number): Float32Array {
  return Float32Array.from({ length: frames * channels }, (_, at) => {
    const channel = at % channels;
    const angle =
      Math.floor(at / channels) * Math.exp((-Math.log(10_000) * (channel - (channel % 2))) / channels);
    return channel % 2 === 0 ? Math.sin(angle) : Math.cos(angle);
  });
}
