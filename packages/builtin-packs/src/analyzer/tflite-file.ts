import { PackError } from '@lipsync/model-pack';

/** Element types of tensors, as the format numbers them. */
const FLOAT32 = 0;
const FLOAT16 = 1;
const INT32 = 2;

export interface TfliteTensor {
  readonly name: string;
  readonly shape: readonly number[];
  /** The elements of a constant, in float32 or int32; empty for a value that is computed. */
  readonly data: ArrayLike<number>;
}

export interface TfliteOperator {
  /** Its number in the format's list of operators. */
  readonly code: number;
  /** Numbers of tensors. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** A number among its options, by its place in their table; 0 where it is left out. */
  readonly option: (place: number, kind: 'byte' | 'int32') => number;
}

interface TfliteFile {
  readonly tensors: readonly TfliteTensor[];
  /** In the order in which they run. */
  readonly operators: readonly TfliteOperator[];
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/**
 * Reads the first graph of a TensorFlow Lite file (a FlatBuffer; the places of fields are those of tensorflow/lite's
 * schema.fbs, version 3). Throws PackError if it is no such file or has elements of other types.
 */
export function readTflite(file: Uint8Array): TfliteFile {
  try {
    return readGraph(file);
  } catch (cause) {
    throw new PackError('manifest_invalid', 'no TensorFlow Lite file that can be read', { cause });
  }
}

function readGraph(file: Uint8Array): TfliteFile {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const model = new Table(view, view.getUint32(0, true));
  const codes = model.tables(1).map((code) => Math.max(code.byte(0), code.int32(3)));
  const buffers = model.tables(4);
  const [graph] = model.tables(2);
  if (graph === undefined) throw new RangeError('no graph');
  return {
    tensors: graph.tables(0).map((tensor) => ({
      name: new TextDecoder().decode(tensor.bytes(3)),
      shape: tensor.int32s(0),
      data: elements(buffers[tensor.int32(2)]?.bytes(0) ?? new Uint8Array(), tensor.byte(1)),
    })),
    operators: graph.tables(3).map((operator) => {
      const options = operator.table(4);
      return {
        code: codes[operator.int32(0)] ?? NaN,
        inputs: operator.int32s(1),
        outputs: operator.int32s(2),
        option: (place, kind) => options?.[kind](place) ?? 0,
      };
    }),
    inputs: graph.int32s(1),
    outputs: graph.int32s(2),
  };
}

function elements(bytes: Uint8Array, type: number): ArrayLike<number> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const read = <T extends Float32Array | Int32Array>(
    array: T,
    size: number,
    at: (byte: number) => number,
  ): T => {
    for (let i = 0; i < array.length; i++) array[i] = at(i * size);
    return array;
  };
  if (bytes.length === 0) return [];
  if (type === FLOAT32)
    return read(new Float32Array(bytes.length / 4), 4, (byte) => view.getFloat32(byte, true));
  if (type === FLOAT16)
    return read(new Float32Array(bytes.length / 2), 2, (byte) => halfOf(view.getUint16(byte, true)));
  if (type === INT32) return read(new Int32Array(bytes.length / 4), 4, (byte) => view.getInt32(byte, true));
  throw new RangeError(`elements of type ${type}`);
}

/** The value of an IEEE 754 number of 16 bits. */
function halfOf(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0x1f) return fraction === 0 ? sign * Infinity : NaN;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** A FlatBuffer table. Fields are named by their place in the schema; one that is left out has its default, 0. */
class Table {
  readonly #view: DataView;
  readonly #start: number;
  /** Where the places of the fields are listed. */
  readonly #fields: number;

  constructor(view: DataView, start: number) {
    this.#view = view;
    this.#start = start;
    this.#fields = start - view.getInt32(start, true);
  }

  byte(place: number): number {
    const at = this.#field(place);
    return at === null ? 0 : this.#view.getInt8(at);
  }

  int32(place: number): number {
    const at = this.#field(place);
    return at === null ? 0 : this.#view.getInt32(at, true);
  }

  table(place: number): Table | null {
    const at = this.#field(place);
    return at === null ? null : new Table(this.#view, this.#target(at));
  }

  tables(place: number): Table[] {
    return this.#items(place, 4, (at) => new Table(this.#view, this.#target(at)));
  }

  int32s(place: number): number[] {
    return this.#items(place, 4, (at) => this.#view.getInt32(at, true));
  }

  bytes(place: number): Uint8Array {
    return Uint8Array.from(this.#items(place, 1, (at) => this.#view.getUint8(at)));
  }

  #items<T>(place: number, size: number, read: (at: number) => T): T[] {
    const at = this.#field(place);
    if (at === null) return [];
    const vector = this.#target(at);
    return Array.from({ length: this.#view.getUint32(vector, true) }, (_, i) => read(vector + 4 + i * size));
  }

  #target(at: number): number {
    return at + this.#view.getUint32(at, true);
  }

  #field(place: number): number | null {
    const entry = 4 + 2 * place;
    const offset =
      entry < this.#view.getUint16(this.#fields, true) ? this.#view.getUint16(this.#fields + entry, true) : 0;
    return offset === 0 ? null : this.#start + offset;
  }
}
