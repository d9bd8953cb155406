import { type Network } from './decode-network';
import {
  type Attribute,
  type DataType,
  type EncodedNode,
  type EncodedTensor,
  type Graph,
  graphAttribute,
  type Node,
  type Tensor,
  type ValueInfo,
} from './encode-model';

/** A value computed inside a graph. An object rather than a string, so that it cannot be misspelled. */
export interface Value {
  readonly name: string;
}

/** A node input: a value, a number (a float32 scalar constant), or null for an omitted optional input. */
export type Operand = Value | number | null;

/**
 * Collects nodes in call order and names every intermediate value.
 *
 *     const g = new GraphBuilder('halve');
 *     const x = g.input('x', 'float32', ['n', 4]);
 *     g.output('y', g.op('Mul', [x, 0.5]), 'float32', ['n', 4]);
 *     writeFileSync('halve.onnx', encodeModel(g.build()));
 */
export class GraphBuilder {
  private nodes: (Node | EncodedNode)[] = [];
  private readonly inputs: ValueInfo[] = [];
  private readonly outputs: ValueInfo[] = [];
  private readonly initializers: (Tensor | EncodedTensor)[] = [];
  private operators: number | undefined;
  private readonly constants = new Map<string, Value>();
  private nextId = 0;

  /** `prefix` keeps the names of values apart from those of an embedded network. */
  constructor(
    private readonly name: string,
    private readonly prefix = '',
  ) {}

  input(name: string, dtype: DataType, dims: readonly (number | string)[]): Value {
    this.inputs.push({ name, dtype, dims });
    return { name };
  }

  /** Declares a value as a graph output with this name. */
  output(name: string, value: Value, dtype: DataType, dims: readonly (number | string)[]): void {
    this.nodes.push({ op: 'Identity', inputs: [value.name], outputs: [name], attributes: {} });
    this.outputs.push({ name, dtype, dims });
  }

  /** A constant tensor. Encoding throws if the data does not fill the dimensions. */
  constant(dtype: Tensor['dtype'], dims: readonly number[], data: ArrayLike<number>): Value {
    const value = this.fresh('c');
    this.initializers.push({ name: value.name, dtype, dims, data });
    return value;
  }

  /** A float32 tensor, the usual kind of weight. */
  weights(dims: readonly number[], data: ArrayLike<number>): Value {
    return this.constant('float32', dims, data);
  }

  /** A one-dimensional int64 tensor: shapes, axes, pads, starts and ends. */
  ints(values: readonly number[]): Value {
    return this.shared(`ints:${values.join(',')}`, () => this.constant('int64', [values.length], values));
  }

  /** A float32 scalar; equal scalars are stored once. */
  scalar(value: number): Value {
    return this.shared(`scalar:${Object.is(value, -0) ? '-0' : value}`, () =>
      this.constant('float32', [], [value]),
    );
  }

  /** An operator with one output. */
  op(op: string, operands: readonly Operand[], attributes: Readonly<Record<string, Attribute>> = {}): Value {
    const output = this.fresh('v');
    this.push(op, operands, [output], attributes);
    return output;
  }

  /** Cuts a value into parts of these sizes along an axis. */
  split<const S extends readonly number[]>(
    value: Value,
    sizes: S,
    axis: number,
  ): { readonly [K in keyof S]: Value } {
    return this.several('Split', [value, this.ints(sizes)], sizes, { axis });
  }

  /** An operator with several outputs: one for each of `parts`, which say what it is for. */
  several<const S extends readonly unknown[]>(
    op: string,
    operands: readonly Operand[],
    parts: S,
    attributes: Readonly<Record<string, Attribute>> = {},
  ): { readonly [K in keyof S]: Value } {
    const outputs = parts.map(() => this.fresh('v'));
    this.push(op, operands, outputs, attributes);
    return outputs as { readonly [K in keyof S]: Value }; // as many as there are parts, which a mapped array does not say
  }

  /**
   * Computes one of two branches: `then` if `condition` (a bool of one element) is true. Only that branch runs. Both
   * may use values computed earlier in this graph, and both results must have the given type and dimensions.
   */
  choose(
    condition: Value,
    result: Omit<ValueInfo, 'name'>,
    then: () => Value,
    otherwise: () => Value,
  ): Value {
    return this.op('If', [condition], {
      then_branch: graphAttribute(this.branch(then, result)),
      else_branch: graphAttribute(this.branch(otherwise, result)),
    });
  }

  /**
   * Puts a network from elsewhere here, once, with these inputs, and returns its outputs by name. The operators around
   * it must mean the same in its version of the operator set. Throws RangeError if an input or output does not exist.
   */
  embed(network: Network, inputs: Readonly<Record<string, Value>>): (output: string) => Value {
    const { operators, nodes, initializers } = network;
    if (this.operators !== undefined) throw new RangeError('a graph embeds one network');
    this.operators = operators;
    for (const input of network.inputs) {
      const value = inputs[input.name];
      if (value === undefined) throw new RangeError(`the network wants ${input.name}`);
      this.push('Identity', [value], [input], {});
    }
    this.nodes.push(...nodes);
    this.initializers.push(...initializers);
    return (output) => {
      const found = network.outputs.find(({ name }) => name === output);
      if (found === undefined) throw new RangeError(`the network has no ${output}`);
      return { name: found.name };
    };
  }

  /** Throws RangeError if an embedded network and the graph around it have values of the same name. */
  build(): Graph {
    const names = new Set<string>();
    const values = this.nodes.flatMap(({ outputs }) => outputs);
    for (const name of [...[...this.inputs, ...this.initializers].map((each) => each.name), ...values]) {
      if (names.has(name)) throw new RangeError(`graph ${this.name} has two values that are called ${name}`);
      names.add(name);
    }
    return {
      name: this.name,
      nodes: this.nodes,
      inputs: this.inputs,
      outputs: this.outputs,
      initializers: this.initializers,
      operators: this.operators,
    };
  }

  /**
   * Collects the nodes that `compute` adds into a separate graph. Constants stay in the outer graph, which a branch can
   * see.
   */
  private branch(compute: () => Value, result: Omit<ValueInfo, 'name'>): Graph {
    const outer = this.nodes;
    this.nodes = [];
    try {
      const value = compute();
      // A branch must compute its own result, even if that is a value from outside.
      const isOwn = this.nodes.some(({ outputs }) => outputs.includes(value.name));
      const { name } = isOwn ? value : this.op('Identity', [value]);
      const outputs = [{ name, ...result }];
      return { name: `branch_${name}`, nodes: this.nodes, inputs: [], outputs, initializers: [] };
    } finally {
      this.nodes = outer;
    }
  }

  private push(
    op: string,
    operands: readonly Operand[],
    outputs: readonly Value[],
    attributes: Readonly<Record<string, Attribute>>,
  ): void {
    this.nodes.push({
      op,
      inputs: operands.map((operand) => this.operandName(operand)),
      outputs: outputs.map((output) => output.name),
      attributes,
    });
  }

  private operandName(operand: Operand): string {
    if (operand === null) return '';
    return typeof operand === 'number' ? this.scalar(operand).name : operand.name;
  }

  private shared(key: string, create: () => Value): Value {
    const existing = this.constants.get(key);
    if (existing !== undefined) return existing;
    const created = create();
    this.constants.set(key, created);
    return created;
  }

  private fresh(kind: 'c' | 'v'): Value {
    return { name: `${this.prefix}${kind}${this.nextId++}` };
  }
}
