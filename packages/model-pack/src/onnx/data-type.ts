/** Element types a pack may use, with their number in ONNX's TensorProto.DataType. */
export const DATA_TYPES = {
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
} as const;

export type DataType = keyof typeof DATA_TYPES;
