import { float, type GraphBuilder, type Operand, type Value } from '@lipsync/model-pack';

/** Element-wise arithmetic on graph values, so that formulas in the graphs read like formulas. */
export function arithmetic(g: GraphBuilder) {
  const binary = (op: string) => (a: Operand, b: Operand) => g.op(op, [a, b]);
  const chain =
    (op: string) =>
    (a: Operand, b: Operand, ...more: Operand[]) =>
      more.reduce<Value>((sum, next) => g.op(op, [sum, next]), g.op(op, [a, b]));
  const sub = binary('Sub');
  const mul = chain('Mul');
  const square = (a: Value): Value => mul(a, a);
  /** Limits to [low, high]. */
  const clamp = (a: Value, low: number, high: number): Value => g.op('Clip', [a, low, high]);
  const div = binary('Div');
  const add = chain('Add');
  /** Computes max(0, min(1, scale·a + offset)) in one operator. */
  const limited = (a: Value, scale: number, offset: number): Value =>
    g.op('HardSigmoid', [a], { alpha: float(scale), beta: float(offset) });
  /** 0 below `from`, 1 above `to`, linear between. */
  const ramp = (a: Value, from: Operand, to: Operand): Value =>
    typeof from === 'number' && typeof to === 'number'
      ? limited(a, 1 / (to - from), from / (from - to))
      : clamp(div(sub(a, from), sub(to, from)), 0, 1);
  /** max(0, 1 − (a/width)²). */
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
    /** s²(3 − 2s): a smooth S-curve through (0, 0) and (1, 1). */
    smooth: (s: Value): Value => mul(square(s), sub(3, mul(s, 2))),
    /** Returns a where `weight` is 0, b where it is 1. */
    mix: (a: Value, b: Operand, weight: Value): Value => add(a, mul(sub(b, a), weight)),
  };
}

export type Arithmetic = ReturnType<typeof arithmetic>;
