import { WireWriter } from './wire-writer';

/** Accepted by ONNX Runtime 1.17 and later, on CPU and CUDA alike. */
const OPSET_VERSION = 21;
const IR_VERSION = 10;

/** Version of operator sets outside ONNX. Those of ONNX Runtime never had another. */
const FOREIGN_VERSION = 1;

/** A complete .onnx file: ModelProto with the standard operator set and the domains that the graph's nodes use. */
export function encodeModel(graph: Graph): Uint8Array {
  const model = new WireWriter()
    .varintField(1, IR_VERSION)
    .stringField(2, 'lipsync-model-pack')
    .messageField(7, encodeGraph(graph))
    .messageField(8, operatorSet('', OPSET_VERSION));
  const domains = new Set(graph.nodes.flatMap(({ domain }) => domain ?? []));
  for (const domain of domains) model.messageField(8, operatorSet(domain, FOREIGN_VERSION));
  return model.finish();
}

function operatorSet(domain: string, version: number): WireWriter {
  return new WireWriter().stringField(1, domain).varintField(2, version);
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
  | { readonly kind: 'float'; readonly value: number }
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
export const tensorAttribute = (tensor: Tensor): Attribute => ({ kind: 'tensor', tensor });
export const graphAttribute = (graph: Graph): Attribute => ({ kind: 'graph', graph });

/** A constant of the graph. */
export interface Tensor {
  readonly name: string;
  readonly dtype: DataType;
  readonly dims: readonly number[];
  /** Row-major elements, as many as the product of dims. Float16 elements are given as their 16-bit patterns. */
  readonly data: ArrayLike<number> | ExternalData;
}

/** Elements in a separate file, which is required if a model would exceed 2 GiB. */
export interface ExternalData {
  /** Path relative to the model's folder. */
  readonly file: string;
  /** Offset of the first element, in bytes. */
  readonly offset: number;
}

/** TensorProto.data_location. */
const EXTERNAL = 1;

const BYTES_PER_ELEMENT: Readonly<Record<DataType, number>> = {
  float32: 4,
  uint8: 1,
  int8: 1,
  int32: 4,
  int64: 8,
  bool: 1,
  float16: 2,
};

function encodeTensor(tensor: Tensor): WireWriter {
  const { name, dtype, dims, data } = tensor;
  const count = dims.reduce((product, dim) => product * dim, 1);
  const message = new WireWriter();
  for (const dim of dims) message.varintField(1, dim);
  message.varintField(2, DATA_TYPES[dtype]);
  if (name !== '') message.stringField(8, name);
  if ('file' in data) {
    return message
      .messageField(13, entry('location', data.file))
      .messageField(13, entry('offset', String(data.offset)))
      .messageField(13, entry('length', String(count * BYTES_PER_ELEMENT[dtype])))
      .varintField(14, EXTERNAL);
  }
  if (count !== data.length) {
    throw new RangeError(
      `tensor ${name}: dims [${dims.join(',')}] hold ${count} elements, got ${data.length}`,
    );
  }
  return message.bytesField(9, rawData(dtype, data));
}

/** StringStringEntryProto. */
function entry(key: string, value: string): WireWriter {
  return new WireWriter().stringField(1, key).stringField(2, value);
}

/** TensorProto.raw_data is little-endian on every host, hence the explicit writes. */
function rawData(dtype: DataType, data: ArrayLike<number>): Uint8Array {
  const size = BYTES_PER_ELEMENT[dtype];
  const view = new DataView(new ArrayBuffer(data.length * size));
  const write = elementWriter(dtype, view);
  for (let i = 0; i < data.length; i++) write(i * size, data[i] ?? 0);
  return new Uint8Array(view.buffer);
}

function elementWriter(dtype: DataType, view: DataView): (offset: number, value: number) => void {
  switch (dtype) {
    case 'float32':
      return (offset, value) => view.setFloat32(offset, value, true);
    case 'int32':
      return (offset, value) => view.setInt32(offset, value, true);
    case 'int64':
      return (offset, value) => view.setBigInt64(offset, BigInt(value), true);
    case 'float16':
      return (offset, value) => view.setUint16(offset, value, true);
    case 'int8':
      return (offset, value) => view.setInt8(offset, value);
    case 'uint8':
    case 'bool':
      return (offset, value) => view.setUint8(offset, value);
  }
}

/** AttributeProto.type. */
const ATTRIBUTE_TYPE = { float: 1, int: 2, string: 3, tensor: 4, graph: 5, ints: 7 } as const;

/** GraphProto. */
function encodeGraph(graph: Graph): WireWriter {
  const message = new WireWriter();
  for (const node of graph.nodes) message.messageField(1, encodeNode(node));
  message.stringField(2, graph.name);
  for (const tensor of graph.initializers) message.messageField(5, encodeTensor(tensor));
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
  if (node.domain !== undefined) message.stringField(7, node.domain);
  return message;
}

function encodeAttribute(name: string, value: Attribute): WireWriter {
  const message = new WireWriter().stringField(1, name);
  if (typeof value === 'number') {
    return message.varintField(3, integer(name, value)).varintField(20, ATTRIBUTE_TYPE.int);
  }
  if (typeof value === 'string') return message.stringField(4, value).varintField(20, ATTRIBUTE_TYPE.string);
  if ('kind' in value) return encodeTagged(message, value).varintField(20, ATTRIBUTE_TYPE[value.kind]);
  for (const item of value) message.varintField(8, integer(name, item));
  return message.varintField(20, ATTRIBUTE_TYPE.ints);
}

function encodeTagged(message: WireWriter, attribute: TaggedAttribute): WireWriter {
  switch (attribute.kind) {
    case 'float':
      return message.floatField(2, attribute.value);
    case 'tensor':
      return message.messageField(5, encodeTensor(attribute.tensor));
    case 'graph':
      return message.messageField(6, encodeGraph(attribute.graph));
  }
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
