import { float, type GraphBuilder, type Operand, type TensorSpec, type Value } from '@lipsync/model-pack';

/** Element-wise arithmetic on graph values, so that formulas in the graphs read like formulas. */
export interface Arithmetic {
  add(a: Operand, b: Operand, ...more: Operand[]): Value;
  sub(a: Operand, b: Operand): Value;
  mul(a: Operand, b: Operand, ...more: Operand[]): Value;
  div(a: Operand, b: Operand): Value;
  max(a: Operand, b: Operand): Value;
  min(a: Operand, b: Operand): Value;
  square(a: Value): Value;
  /** Limits to [low, high]. */
  clamp(a: Value, low: number, high: number): Value;
  /** 0 below `from`, 1 above `to`, linear between. */
  ramp(a: Value, from: Operand, to: Operand): Value;
  /** s²(3 − 2s): a smooth S-curve through (0, 0) and (1, 1). */
  smooth(s: Value): Value;
  /** Returns a where `weight` is 0, b where it is 1. */
  mix(a: Value, b: Operand, weight: Value): Value;
  /** max(0, 1 − (a/width)²). */
  dome(a: Value, width: Operand): Value;
}

export function arithmetic(g: GraphBuilder): Arithmetic {
  const binary = (op: string) => (a: Operand, b: Operand) => g.op(op, [a, b]);
  const chain =
    (op: string) =>
    (a: Operand, b: Operand, ...more: Operand[]) =>
      more.reduce<Value>((sum, next) => g.op(op, [sum, next]), g.op(op, [a, b]));
  const sub = binary('Sub');
  const mul = chain('Mul');
  const square = (a: Value): Value => mul(a, a);
  const clamp = (a: Value, low: number, high: number): Value => g.op('Clip', [a, low, high]);
  const div = binary('Div');
  const add = chain('Add');
  /** Computes max(0, min(1, scale·a + offset)) in one operator. */
  const limited = (a: Value, scale: number, offset: number): Value =>
    g.op('HardSigmoid', [a], { alpha: float(scale), beta: float(offset) });
  const ramp = (a: Value, from: Operand, to: Operand): Value =>
    typeof from === 'number' && typeof to === 'number'
      ? limited(a, 1 / (to - from), from / (from - to))
      : clamp(div(sub(a, from), sub(to, from)), 0, 1);
  const dome = (a: Value, width: Operand): Value =>
    typeof width === 'number'
      ? limited(square(a), -1 / width ** 2, 1)
      : g.op('Relu', [sub(1, square(div(a, width)))]);
  return {
    add,
    sub,
    mul,
    div,
    square,
    clamp,
    ramp,
    dome,
    max: binary('Max'),
    min: binary('Min'),
    smooth: (s) => mul(square(s), sub(3, mul(s, 2))),
    mix: (a, b, weight) => add(a, mul(sub(b, a), weight)),
  };
}

/** A float32 tensor of a manifest. */
export function floatTensor(
  name: string,
  dims: readonly (number | string)[],
  range?: readonly [number, number],
): TensorSpec {
  const spec = { name, dtype: 'float32' as const, dims: [...dims] };
  return range === undefined ? spec : { ...spec, range: [...range] };
}
