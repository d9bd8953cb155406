import {
  type DataType,
  dataTypeOf,
  type EncodedNode,
  type EncodedTensor,
  type ValueInfo,
} from './encode-model';
import { type WireField, wireFields } from './wire-reader';

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
  const model = grouped(file);
  const [graph] = model.get(7) ?? [];
  if (graph === undefined) throw new RangeError('no ONNX model');
  const imports = (model.get(8) ?? []).map(({ bytes }) => grouped(bytes));
  const foreign = imports
    .map((each) => text(each.get(1)))
    .filter((domain) => !['', 'ai.onnx'].includes(domain));
  if (foreign.length > 0) throw new RangeError(`an ONNX model with operators of ${foreign.join(', ')}`);
  const parts = grouped(graph.bytes);
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
      outputs: (grouped(encoded).get(2) ?? []).map((output) => text([output])),
    })),
    initializers,
  };
}

/** The fields of a message by number. */
function grouped(message: Uint8Array): ReadonlyMap<number, readonly WireField[]> {
  const fields = new Map<number, WireField[]>();
  for (const each of wireFields(message)) {
    const before = fields.get(each.field);
    if (before === undefined) fields.set(each.field, [each]);
    else before.push(each);
  }
  return fields;
}

const text = (fields: readonly WireField[] | undefined): string =>
  new TextDecoder().decode(fields?.[0]?.bytes);

/** TensorProto. */
function nameOfTensor(tensor: Uint8Array): string {
  const fields = grouped(tensor);
  const name = text(fields.get(8));
  const isElsewhere = fields.get(14)?.[0]?.value === 1;
  if (isElsewhere) throw new RangeError(`an ONNX model whose weights (${name}) are in another file`);
  return name;
}

/** ValueInfoProto of a tensor. */
function decodeValueInfo(info: Uint8Array): ValueInfo {
  const fields = grouped(info);
  const inside = (message: Uint8Array | undefined, field: number): Uint8Array | undefined =>
    message && grouped(message).get(field)?.[0]?.bytes;
  const tensor = grouped(inside(fields.get(2)?.[0]?.bytes, 1) ?? new Uint8Array());
  const shape = grouped(tensor.get(2)?.[0]?.bytes ?? new Uint8Array());
  const name = text(fields.get(1));
  const dtype: DataType | undefined = dataTypeOf(tensor.get(1)?.[0]?.value ?? 0);
  if (dtype === undefined)
    throw new RangeError(`an ONNX model whose '${name}' has a type that packs cannot use`);
  const dims = (shape.get(1) ?? []).map(({ bytes }) => {
    const dim = grouped(bytes);
    return dim.get(1)?.[0]?.value ?? text(dim.get(2));
  });
  return { name, dtype, dims };
}
