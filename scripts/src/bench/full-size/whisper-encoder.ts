import { Layers } from './layers';
import { type WeightFile } from './weight-file';
import { MEL_BANDS, SEGMENT_FRAMES } from '@lipsync/engines';
import { type Graph, GraphBuilder, type Value } from '@lipsync/model-pack';

/** The dimensions of a Whisper encoder. */
export interface WhisperShape {
  readonly width: number;
  readonly heads: number;
  readonly blocks: number;
}

export const WHISPER_STEPS = SEGMENT_FRAMES / 2;

/**
 * Maps mel [1, 80, 3000] to states [1, 1500, 1 + blocks, width]: the input of the first block, and the output of each
 * block.
 */
export function whisperEncoder({ width, heads, blocks }: WhisperShape, weights: WeightFile): Graph {
  const g = new GraphBuilder('whisper_encoder');
  const layers = new Layers(g, weights);
  const mel = g.input('mel', 'float32', [1, MEL_BANDS, SEGMENT_FRAMES]);
  const heard = layers.gelu(
    layers.conv1d(layers.gelu(layers.conv1d(mel, MEL_BANDS, width, 1)), width, width, 2),
  );
  let x = layers.add(
    g.op('Transpose', [heard], { perm: [0, 2, 1] }),
    layers.random([WHISPER_STEPS, width], width),
  );
  const all = { channels: width, heads, context: width };
  const states: Value[] = [x];
  for (let block = 0; block < blocks; block++) {
    const normal = layers.layerNorm(x, width);
    const bias = { query: true, key: false, value: true };
    x = layers.add(x, layers.attention(normal, normal, { ...all, bias }));
    const inner = layers.gelu(layers.linear(layers.layerNorm(x, width), width, 4 * width));
    x = layers.add(x, layers.linear(inner, 4 * width, width));
    states.push(block === blocks - 1 ? layers.layerNorm(x, width) : x);
  }
  const each = states.map((state) => g.op('Unsqueeze', [state, g.ints([2])]));
  g.output('states', g.op('Concat', each, { axis: 2 }), 'float32', [1, WHISPER_STEPS, 1 + blocks, width]);
  return g.build();
}
