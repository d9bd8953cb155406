import {
  type DataType,
  dataTypeOf,
  type EncodedNode,
  type EncodedTensor,
  type ValueInfo,
} from './encode-model';
import { fieldsByNumber, textOf } from './wire-reader';

/** A published network, as far as a graph around it needs to know it. What it computes stays as it was encoded. */
export interface Network {
  /** Version of the standard operator set that its nodes are written in. */
  readonly operators: number;
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
  readonly nodes: readonly EncodedNode[];
  readonly initializers: readonly EncodedTensor[];
}

/**
 * Reads an .onnx file whose weights are in it. The views that are returned keep `file` in memory. Throws RangeError if
 * it is none, or has weights elsewhere, operators of its own, or tensors of other types than packs may use.
 */
export function decodeNetwork(file: Uint8Array): Network {
  const model = fieldsByNumber(file);
  const [graph] = model.get(7) ?? [];
  if (graph === undefined) throw new RangeError('no ONNX model');
  const imports = (model.get(8) ?? []).map(({ bytes }) => fieldsByNumber(bytes));
  const foreign = imports
    .map((each) => textOf(each.get(1)))
    .filter((domain) => !['', 'ai.onnx'].includes(domain));
  if (foreign.length > 0) throw new RangeError(`an ONNX model with operators of ${foreign.join(', ')}`);
  const parts = fieldsByNumber(graph.bytes);
  const bytesOf = (field: number): Uint8Array[] => (parts.get(field) ?? []).map(({ bytes }) => bytes);
  const initializers = bytesOf(5).map((encoded) => ({ encoded, name: nameOfTensor(encoded) }));
  const constants = new Set(initializers.map(({ name }) => name));
  return {
    operators: imports[0]?.get(2)?.[0]?.value ?? 0,
    // Until version 3 of the format, constants were inputs too.
    inputs: bytesOf(11)
      .map(decodeValueInfo)
      .filter(({ name }) => !constants.has(name)),
    outputs: bytesOf(12).map(decodeValueInfo),
    nodes: bytesOf(1).map((encoded) => ({
      encoded,
      outputs: (fieldsByNumber(encoded).get(2) ?? []).map((output) => textOf([output])),
    })),
    initializers,
  };
}

/** TensorProto. */
function nameOfTensor(tensor: Uint8Array): string {
  const fields = fieldsByNumber(tensor);
  const name = textOf(fields.get(8));
  const isElsewhere = fields.get(14)?.[0]?.value === 1;
  if (isElsewhere) throw new RangeError(`an ONNX model whose weights (${name}) are in another file`);
  return name;
}

/** ValueInfoProto of a tensor. */
function decodeValueInfo(info: Uint8Array): ValueInfo {
  const fields = fieldsByNumber(info);
  const inside = (message: Uint8Array | undefined, field: number): Uint8Array | undefined =>
    message && fieldsByNumber(message).get(field)?.[0]?.bytes;
  const tensor = fieldsByNumber(inside(fields.get(2)?.[0]?.bytes, 1) ?? new Uint8Array());
  const shape = fieldsByNumber(tensor.get(2)?.[0]?.bytes ?? new Uint8Array());
  const name = textOf(fields.get(1));
  const dtype: DataType | undefined = dataTypeOf(tensor.get(1)?.[0]?.value ?? 0);
  if (dtype === undefined)
    throw new RangeError(`an ONNX model whose '${name}' has a type that packs cannot use`);
  const dims = (shape.get(1) ?? []).map(({ bytes }) => {
    const dim = fieldsByNumber(bytes);
    return dim.get(1)?.[0]?.value ?? textOf(dim.get(2));
  });
  return { name, dtype, dims };
}
