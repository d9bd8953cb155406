import { DATA_TYPES, type DataType } from './data-type';
import { WireWriter } from './wire-writer';

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

export function encodeTensor(tensor: Tensor): WireWriter {
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
