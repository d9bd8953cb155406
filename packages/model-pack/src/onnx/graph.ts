import { type DataType } from './data-type';
import { type Tensor } from './tensor';

/** A graph input or output. A string dimension is free; equal names must match at run time. */
export interface ValueInfo {
  readonly name: string;
  readonly dtype: DataType;
  readonly dims: readonly (number | string)[];
}

/**
 * A node attribute. Plain numbers are integers: ONNX distinguishes `alpha = 1` (int) from `alpha = 1.0` (float) and
 * rejects the wrong one, so floats are always written as `float(…)` or `floats(…)`.
 */
export type Attribute = number | string | readonly number[] | TaggedAttribute;

export type TaggedAttribute =
  | { readonly kind: 'float'; readonly value: number }
  | { readonly kind: 'floats'; readonly values: readonly number[] }
  | { readonly kind: 'tensor'; readonly tensor: Tensor }
  | { readonly kind: 'graph'; readonly graph: Graph };

/** One operator call. An empty input name stands for an omitted optional input. */
export interface Node {
  readonly op: string;
  /** The domain of an operator that is not part of ONNX. */
  readonly domain?: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** Nodes in execution order, with the graph's inputs, outputs and constants. */
export interface Graph {
  readonly name: string;
  readonly nodes: readonly Node[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly initializers: readonly Tensor[];
}

export const float = (value: number): Attribute => ({ kind: 'float', value });
export const floats = (values: readonly number[]): Attribute => ({ kind: 'floats', values });
export const tensorAttribute = (tensor: Tensor): Attribute => ({ kind: 'tensor', tensor });
export const graphAttribute = (graph: Graph): Attribute => ({ kind: 'graph', graph });
