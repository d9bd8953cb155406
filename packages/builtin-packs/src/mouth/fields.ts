import { type GraphBuilder, type Value } from '@lipsync/model-pack';
import { type Raster } from './face-axes';

/** Rows and columns of a raster: int64 [2], `ends` exclusive. */
export interface Bounds {
  readonly starts: Value;
  readonly ends: Value;
}

/** The rectangle of a raster in which a field [batch, 1, points] is above 0 for any face, and one point around it. */
export function boundsOf(g: GraphBuilder, field: Value, { rows, columns }: Raster): Bounds {
  const map = g.op('Reshape', [field, g.ints([-1, rows, columns])]);
  const [one, two] = [g.ints([1]), g.ints([2])];
  const [fromRow, toRow, fromColumn, toColumn] = [rows, columns].flatMap((count, axis) => {
    const highest = g.op('ReduceMax', [map, g.ints([0, 2 - axis])], { keepdims: 0 });
    const isShown = g.op('Cast', [g.op('Greater', [highest, 0])], { to: 1 });
    const find = (select_last_index: 0 | 1): Value => g.op('ArgMax', [isShown], { select_last_index });
    return [
      g.op('Max', [g.op('Sub', [find(0), one]), g.ints([0])]),
      g.op('Min', [g.op('Add', [find(1), two]), g.ints([count])]),
    ];
  }) as [Value, Value, Value, Value];
  return {
    starts: g.op('Concat', [fromRow, fromColumn], { axis: 0 }),
    ends: g.op('Concat', [toRow, toColumn], { axis: 0 }),
  };
}

/**
 * Brings fields [batch, channels, points] of a raster to a plane, by straight lines. All have the same number of
 * channels.
 */
export type Refine = <const F extends readonly Value[]>(
  channels: 1 | 2,
  ...fields: F
) => { readonly [K in keyof F]: Value };

/** To a plane with `scale`² points for each of the raster; only within `bounds`, if there are any. */
export function refine(g: GraphBuilder, { rows, columns }: Raster, scale: number, bounds?: Bounds): Refine {
  return (channels, ...fields) => {
    const sizes = fields.map(() => channels);
    const together = g.op('Concat', fields, { axis: 1 });
    const maps = g.op('Reshape', [together, g.ints([-1, channels * fields.length, rows, columns])]);
    const seen = bounds ? g.op('Slice', [maps, bounds.starts, bounds.ends, g.ints([2, 3])]) : maps;
    const fine = g.op('Resize', [seen, null, g.weights([4], [1, 1, scale, scale])], { mode: 'linear' });
    return g.split(g.op('Reshape', [fine, g.ints([0, 0, -1])]), sizes, 1) as never; // one per field
  };
}

/**
 * Returns a plane [batch, channels, rows, columns] with `change` applied to its part within the bounds of a raster that
 * is `scale` times coarser. The part is [batch, channels, points]; its shape is that as [batch, channels, rows, columns].
 */
export function changeWithin(
  g: GraphBuilder,
  plane: Value,
  { starts, ends }: Bounds,
  { rows, columns }: Raster,
  scale: number,
  change: (part: Value, shape: Value) => Value,
): Value {
  const scales = g.ints([scale, scale]);
  const [from, to] = [g.op('Mul', [starts, scales]), g.op('Mul', [ends, scales])];
  const part = g.op('Slice', [plane, from, to, g.ints([2, 3])]);
  const flat = g.op('Reshape', [part, g.ints([0, 0, -1])]);
  const shape = g.op('Shape', [part]);
  const difference = g.op('Sub', [change(flat, shape), flat]);
  const after = g.op('Sub', [g.ints([rows * scale, columns * scale]), to]);
  const none = g.ints([0, 0]);
  const around = g.op('Concat', [none, from, none, after], { axis: 0 });
  const placed = g.op('Pad', [g.op('Reshape', [difference, shape]), around]);
  return g.op('Add', [plane, placed]);
}
