import { dataTypeOf } from './encode-model';
import { fieldsByNumber, textOf } from './wire-reader';

/**
 * The float32 constants of an .onnx file by name, also those inside the branches and loops of its graph. Throws
 * RangeError if the file is no such model.
 */
export function decodeConstants(file: Uint8Array): ReadonlyMap<string, Float32Array> {
  const [graph] = fieldsByNumber(file).get(7) ?? [];
  if (graph === undefined) throw new RangeError('no ONNX model');
  const constants = new Map<string, Float32Array>();
  collect(graph.bytes, constants);
  return constants;
}

/** Collects the initializers of a GraphProto, and the attributes of its nodes that are tensors or graphs. */
function collect(graph: Uint8Array, constants: Map<string, Float32Array>): void {
  const add = (name: string, tensor: Uint8Array): void => {
    const values = floatsOf(tensor);
    if (values !== undefined) constants.set(name, values);
  };
  const parts = fieldsByNumber(graph);
  for (const { bytes } of parts.get(5) ?? []) add(textOf(fieldsByNumber(bytes).get(8)), bytes);
  for (const node of parts.get(1) ?? []) {
    const fields = fieldsByNumber(node.bytes);
    for (const attribute of fields.get(5) ?? []) {
      const value = fieldsByNumber(attribute.bytes);
      for (const { bytes } of value.get(5) ?? []) add(textOf(fields.get(2)), bytes);
      for (const { bytes } of value.get(6) ?? []) collect(bytes, constants);
    }
  }
}

/** The elements of a TensorProto; undefined if they are of another type or not stored as raw bytes. */
function floatsOf(tensor: Uint8Array): Float32Array | undefined {
  const fields = fieldsByNumber(tensor);
  const [raw] = fields.get(9) ?? [];
  if (raw === undefined || dataTypeOf(fields.get(2)?.[0]?.value ?? 0) !== 'float32') return undefined;
  return new Float32Array(Uint8Array.from(raw.bytes).buffer);
}
