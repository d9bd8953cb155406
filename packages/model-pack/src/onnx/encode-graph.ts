import { DATA_TYPES } from './data-type';
import { type Attribute, type Graph, type Node, type TaggedAttribute, type ValueInfo } from './graph';
import { encodeTensor } from './tensor';
import { WireWriter } from './wire-writer';

/** AttributeProto.type. */
const ATTRIBUTE_TYPE = { float: 1, int: 2, string: 3, tensor: 4, graph: 5, floats: 6, ints: 7 } as const;

/** GraphProto. */
export function encodeGraph(graph: Graph): WireWriter {
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
    case 'floats':
      for (const item of attribute.values) message.floatField(7, item);
      return message;
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
