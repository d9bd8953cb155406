import { WireWriter } from './wire-writer';

/** Accepted by ONNX Runtime 1.17 and later, on CPU and CUDA alike. */
const OPSET_VERSION = 21;
const IR_VERSION = 10;

/** A complete .onnx file: ModelProto with the standard operator set. */
export function encodeModel(graph: Graph): Uint8Array {
  const operators = new WireWriter().stringField(1, '').varintField(2, graph.operators ?? OPSET_VERSION);
  return new WireWriter()
    .varintField(1, IR_VERSION)
    .stringField(2, 'lipsync-model-pack')
    .messageField(7, encodeGraph(graph))
    .messageField(8, operators)
    .finish();
}

/** Element types a pack may use, with their number in ONNX's TensorProto.DataType. */
const DATA_TYPES = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
} as const;

export type DataType = keyof typeof DATA_TYPES;

export const dataTypeOf = (number: number): DataType | undefined =>
  (Object.keys(DATA_TYPES) as DataType[]).find((type) => DATA_TYPES[type] === number);

/** A graph input or output. A string dimension is free; equal names must match at run time. */
export interface ValueInfo {
  readonly name: string;
  readonly dtype: DataType;
  readonly dims: readonly (number | string)[];
}

/**
 * A node attribute. Plain numbers are integers: ONNX distinguishes `alpha = 1` (int) from `alpha = 1.0` (float) and
 * rejects the wrong one, so floats are always written as `float(…)`.
 */
export type Attribute = number | string | readonly number[] | TaggedAttribute;

type TaggedAttribute =
  { readonly kind: 'float'; readonly value: number } | { readonly kind: 'graph'; readonly graph: Graph };

/** One operator call. An empty input name stands for an omitted optional input. */
export interface Node {
  readonly op: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, Attribute>>;
}

/** A NodeProto of a network from elsewhere, and the names of its outputs. */
export interface EncodedNode {
  readonly encoded: Uint8Array;
  readonly outputs: readonly string[];
}

/** A TensorProto of a network from elsewhere. */
export interface EncodedTensor {
  readonly encoded: Uint8Array;
  readonly name: string;
}

/** Nodes in execution order, with the graph's inputs, outputs and constants. */
export interface Graph {
  readonly name: string;
  readonly nodes: readonly (Node | EncodedNode)[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly initializers: readonly (Tensor | EncodedTensor)[];
  /** Version of the operator set of a network from elsewhere; all nodes of a model have the same. */
  readonly operators?: number | undefined;
}

export const float = (value: number): Attribute => ({ kind: 'float', value });
export const graphAttribute = (graph: Graph): Attribute => ({ kind: 'graph', graph });

/** A constant of the graph. */
export interface Tensor {
  readonly name: string;
  readonly dtype: 'float32' | 'int64';
  readonly dims: readonly number[];
  /** Row-major elements, as many as the product of dims. */
  readonly data: ArrayLike<number>;
}

function encodeTensor({ name, dtype, dims, data }: Tensor): WireWriter {
  const count = dims.reduce((product, dim) => product * dim, 1);
  if (count !== data.length) {
    throw new RangeError(
      `tensor ${name}: dims [${dims.join(',')}] hold ${count} elements, got ${data.length}`,
    );
  }
  const message = new WireWriter();
  for (const dim of dims) message.varintField(1, dim);
  // TensorProto.raw_data is little-endian, as are all machines that the runtime is built for.
  const values = dtype === 'float32' ? Float32Array.from(data) : BigInt64Array.from(Array.from(data, BigInt));
  return message
    .varintField(2, DATA_TYPES[dtype])
    .stringField(8, name)
    .bytesField(9, new Uint8Array(values.buffer));
}

/** AttributeProto.type. */
const ATTRIBUTE_TYPE = { float: 1, int: 2, string: 3, graph: 5, ints: 7 } as const;

/** GraphProto. */
function encodeGraph(graph: Graph): WireWriter {
  const message = new WireWriter();
  for (const node of graph.nodes) {
    if ('encoded' in node) message.bytesField(1, node.encoded);
    else message.messageField(1, encodeNode(node));
  }
  message.stringField(2, graph.name);
  for (const tensor of graph.initializers) {
    if ('encoded' in tensor) message.bytesField(5, tensor.encoded);
    else message.messageField(5, encodeTensor(tensor));
  }
  for (const input of graph.inputs) message.messageField(11, encodeValueInfo(input));
  for (const output of graph.outputs) message.messageField(12, encodeValueInfo(output));
  return message;
}

function encodeNode(node: Node): WireWriter {
  const message = new WireWriter();
  for (const input of node.inputs) message.stringField(1, input);
  for (const output of node.outputs) message.stringField(2, output);
  message.stringField(3, `${node.op}_${node.outputs[0] ?? ''}`).stringField(4, node.op);
  for (const [name, value] of Object.entries(node.attributes)) {
    message.messageField(5, encodeAttribute(name, value));
  }
  return message;
}

function encodeAttribute(name: string, value: Attribute): WireWriter {
  const message = new WireWriter().stringField(1, name);
  if (typeof value === 'number') {
    return message.varintField(3, integer(name, value)).varintField(20, ATTRIBUTE_TYPE.int);
  }
  if (typeof value === 'string') return message.stringField(4, value).varintField(20, ATTRIBUTE_TYPE.string);
  if (!('kind' in value)) {
    for (const item of value) message.varintField(8, integer(name, item));
    return message.varintField(20, ATTRIBUTE_TYPE.ints);
  }
  if (value.kind === 'float') message.floatField(2, value.value);
  else message.messageField(6, encodeGraph(value.graph));
  return message.varintField(20, ATTRIBUTE_TYPE[value.kind]);
}

function integer(name: string, value: number): number {
  if (Number.isSafeInteger(value)) return value;
  throw new RangeError(`attribute ${name}: ${value} is not an integer; wrap floats with float(…)`);
}

function encodeValueInfo(value: ValueInfo): WireWriter {
  const shape = new WireWriter();
  for (const dim of value.dims) {
    const dimension = new WireWriter();
    if (typeof dim === 'string') dimension.stringField(2, dim);
    else dimension.varintField(1, dim);
    shape.messageField(1, dimension);
  }
  const tensorType = new WireWriter().varintField(1, DATA_TYPES[value.dtype]).messageField(2, shape);
  const type = new WireWriter().messageField(1, tensorType);
  return new WireWriter().stringField(1, value.name).messageField(2, type);
}
