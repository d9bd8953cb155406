import { type GraphBuilder, PackError, type Value } from '@lipsync/model-pack';
import { readTflite, type TfliteOperator, type TfliteTensor } from './tflite-file';

/** Operators by their number in TensorFlow Lite's list. */
const OPERATORS = {
  0: 'ADD',
  2: 'CONCATENATION',
  3: 'CONV_2D',
  4: 'DEPTHWISE_CONV_2D',
  6: 'DEQUANTIZE',
  9: 'FULLY_CONNECTED',
  14: 'LOGISTIC',
  17: 'MAX_POOL_2D',
  22: 'RESHAPE',
  23: 'RESIZE_BILINEAR',
  34: 'PAD',
  40: 'MEAN',
  54: 'PRELU',
} as const;
type OperatorName = (typeof OPERATORS)[keyof typeof OPERATORS];
const NAMES = new Map<number, OperatorName>(
  Object.entries(OPERATORS).map(([code, name]) => [Number(code), name]),
);

/** Numbers of the activations that operators may end with. */
const RELU = 1;
const RELU6 = 3;

/** Number of the padding that makes an output as large as the input over the stride. */
const SAME = 0;

/** TensorFlow Lite has channels last, ONNX has them second: the axis here of each axis there. */
const AXES = [0, 2, 3, 1] as const;

/**
 * Adds the network of a TensorFlow Lite file to a graph. `image` is its one input, with channels second; the values
 * returned are its outputs, with channels last, as the file has them. Throws PackError if the file has operators other
 * than those of MediaPipe's hand networks.
 */
export function addTflite(g: GraphBuilder, file: Uint8Array, image: Value): Value[] {
  const { tensors, operators, inputs, outputs } = readTflite(file);
  const values = new Map<number, Value>([[inputs[0] ?? NaN, image]]);
  /** Constants that are stored in half precision are converted by an operator of the file. */
  const constants = new Map<number, ArrayLike<number>>();
  const tensor = (number = NaN): TfliteTensor & { readonly data: ArrayLike<number> } => {
    const found = tensors[number];
    if (!found) throw new PackError('manifest_invalid', `there is no tensor ${number}`);
    return { ...found, data: constants.get(number) ?? found.data };
  };
  const value = (number = NaN): Value => {
    const found = values.get(number);
    if (!found) throw new PackError('manifest_invalid', `${tensor(number).name} is not computed`);
    return found;
  };
  const isImage = (number: number | undefined): boolean => tensor(number).shape.length === 4;
  const channelsLast = (number: number): Value =>
    isImage(number) ? g.op('Transpose', [value(number)], { perm: [0, 2, 3, 1] }) : value(number);

  function add({
    code,
    inputs: [first = NaN, second, third],
    outputs: [out],
    ...operator
  }: TfliteOperator): Value {
    const { option } = operator;
    const x = value(first);
    const { shape } = tensor(first);
    const ended = (result: Value, place: number): Value => activated(g, result, option(place, 'byte'));
    switch (NAMES.get(code)) {
      case 'ADD':
        return ended(g.op('Add', [x, value(second)]), 0);
      case 'CONV_2D':
        return ended(convolution(g, x, shape, tensor(second), tensor(third), option, false), 3);
      case 'DEPTHWISE_CONV_2D':
        return ended(convolution(g, x, shape, tensor(second), tensor(third), option, true), 4);
      case 'FULLY_CONNECTED': {
        const kernel = tensor(second);
        const bias = tensor(third);
        const weights = [g.weights(kernel.shape, kernel.data), g.weights(bias.shape, bias.data)];
        return ended(g.op('Gemm', [x, ...weights], { transB: 1 }), 0);
      }
      case 'LOGISTIC':
        return g.op('Sigmoid', [x]);
      case 'MAX_POOL_2D': {
        const [width, height] = [option(3, 'int32'), option(4, 'int32')];
        const { strides, pads } = windows(shape, [height, width], option);
        return g.op('MaxPool', [x], { kernel_shape: [height, width], strides, pads });
      }
      case 'RESHAPE':
        return g.op('Reshape', [channelsLast(first), g.ints(tensor(out).shape)]);
      case 'RESIZE_BILINEAR': {
        const [, rows = 1, columns = 1] = tensor(out).shape;
        const scales = g.weights([4], [1, 1, rows / (shape[1] ?? 1), columns / (shape[2] ?? 1)]);
        const centers = option(3, 'byte') === 1 ? 'half_pixel' : 'asymmetric';
        return g.op('Resize', [x, null, scales], { mode: 'linear', coordinate_transformation_mode: centers });
      }
      case 'PAD': {
        const { data } = tensor(second);
        const sides = [0, 1].flatMap((side) => [0, 3, 1, 2].map((axis) => data[axis * 2 + side] ?? 0));
        return g.op('Pad', [x, g.ints(sides)]);
      }
      case 'MEAN': {
        const axes = Array.from(tensor(second).data, (axis) => AXES[axis] ?? axis);
        return g.op('Reshape', [g.op('ReduceMean', [x, g.ints(axes)]), g.ints(tensor(out).shape)]);
      }
      case 'PRELU':
        return g.op('PRelu', [x, g.weights([shape[3] ?? 1, 1, 1], tensor(second).data)]);
      default:
        throw new PackError('manifest_invalid', `operator ${code} of TensorFlow Lite is not known`);
    }
  }

  for (const operator of operators) {
    const {
      code,
      inputs: from,
      outputs: [out = NaN],
    } = operator;
    if (NAMES.get(code) === 'DEQUANTIZE') constants.set(out, tensor(from[0]).data);
    else if (NAMES.get(code) === 'CONCATENATION') {
      const axis = operator.option(0, 'int32');
      values.set(out, g.op('Concat', from.map(value), { axis: isImage(out) ? (AXES[axis] ?? axis) : axis }));
    } else values.set(out, add(operator));
  }
  return outputs.map(channelsLast);
}

function activated(g: GraphBuilder, value: Value, activation: number): Value {
  if (activation === RELU) return g.op('Relu', [value]);
  return activation === RELU6 ? g.op('Clip', [value, 0, 6]) : value;
}

/** `kernel` is [outputs, rows, columns, inputs], of a depthwise one [1, rows, columns, channels]. */
function convolution(
  g: GraphBuilder,
  x: Value,
  shape: readonly number[],
  kernel: TfliteTensor,
  bias: TfliteTensor,
  option: TfliteOperator['option'],
  depthwise: boolean,
): Value {
  const [outputs = 0, rows = 0, columns = 0, inputs = 0] = kernel.shape;
  const places = rows * columns;
  const weights = new Float32Array(kernel.data.length);
  for (let i = 0; i < weights.length; i++) {
    const channel = i % inputs;
    const place = Math.floor(i / inputs) % places;
    const output = Math.floor(i / inputs / places);
    weights[(output * inputs + channel) * places + place] = kernel.data[i] ?? 0;
  }
  const dims = depthwise ? [inputs, 1, rows, columns] : [outputs, inputs, rows, columns];
  return g.op('Conv', [x, g.weights(dims, weights), g.weights(bias.shape, bias.data)], {
    ...windows(shape, [rows, columns], option),
    group: depthwise ? inputs : 1,
  });
}

/** How the windows of a convolution or pooling lie in a picture. Its first options are padding and both strides. */
function windows(
  [, height = 0, width = 0]: readonly number[],
  [rows, columns]: readonly [number, number],
  option: TfliteOperator['option'],
): { strides: number[]; pads: number[] } {
  const strides = [option(2, 'int32'), option(1, 'int32')];
  const padding = (size: number, window: number, stride: number): [number, number] => {
    if (option(0, 'byte') !== SAME) return [0, 0];
    const all = Math.max(0, (Math.ceil(size / stride) - 1) * stride + window - size);
    return [Math.floor(all / 2), Math.ceil(all / 2)];
  };
  const [top, bottom] = padding(height, rows, strides[0] ?? 1);
  const [left, right] = padding(width, columns, strides[1] ?? 1);
  return { strides, pads: [top, left, bottom, right] };
}
