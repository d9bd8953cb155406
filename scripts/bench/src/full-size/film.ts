import { type Value } from '@lipsync/model-pack';
import { type Layers } from './layers';

/** A clip [1, channels, frames, side, side] as its pictures, [frames, channels, side, side]. */
export function picturesOf({ g }: Layers, film: Value): Value {
  return g.op('Transpose', [g.op('Squeeze', [film, g.ints([0])])], { perm: [1, 0, 2, 3] });
}

/** The inverse of `picturesOf`. */
export function filmOf({ g }: Layers, pictures: Value): Value {
  return g.op('Unsqueeze', [g.op('Transpose', [pictures], { perm: [1, 0, 2, 3] }), g.ints([0])]);
}
