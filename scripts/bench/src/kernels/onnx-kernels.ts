import { MASK_SIZE, pictureLayout } from '@lipsync/lipsync';
import { encodeModel, GraphBuilder, type Value } from '@lipsync/model-pack';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { type FaceScene } from './face-scene';
import { type KernelAlternative } from './kernel-alternative';

// Set before ONNX Runtime starts; it sends telemetry otherwise.
process.env['ORT_DISABLE_TELEMETRY'] = '1';

/** BT.709, limited range: rows R, G, B of columns Y, U, V, for code values minus their zero level. */
const TO_RGB = [0.00913, 0, 0.01406, 0.00913, -0.00167, -0.00418, 0.00913, 0.01657, 0];
/** Rows Y, U, V of columns R, G, B in [-1, 1]. */
const FROM_RGB = [23.28, 78.32, 7.91, -12.83, -43.17, 56, 56, -50.86, -5.14];

/**
 * The same work as two ONNX graphs on one thread, with simplifications in their favour: the box is fixed, its edges lie
 * on whole samples, luma is resampled linearly instead of with Lanczos, and the blended box is not copied back into the
 * picture.
 */
export async function onnxKernels(scene: FaceScene): Promise<KernelAlternative> {
  const { width, height } = scene.format;
  const { chromaWidth, chromaHeight, uOffset, vOffset } = pictureLayout(scene.format);
  const crop = await open(cropGraph(scene));
  const paste = await open(pasteGraph(scene));
  const { picture, side } = scene;
  const planes = {
    y: new Tensor('uint8', picture.subarray(0, uOffset), [1, 1, height, width]),
    u: new Tensor('uint8', picture.subarray(uOffset, vOffset), [1, 1, chromaHeight, chromaWidth]),
    v: new Tensor('uint8', picture.subarray(vOffset), [1, 1, chromaHeight, chromaWidth]),
  };
  const face = new Tensor('float32', scene.face, [1, 3, side, side]);
  const mask = new Tensor('float32', scene.mask, [1, 1, MASK_SIZE, MASK_SIZE]);
  return {
    crop: async () => void (await crop.run(planes)),
    paste: async () => void (await paste.run({ ...planes, face, mask })),
  };
}

function open(graph: GraphBuilder): Promise<InferenceSession> {
  return InferenceSession.create(encodeModel(graph.build()), { intraOpNumThreads: 1, interOpNumThreads: 1 });
}

interface Planes {
  readonly y: Value;
  readonly u: Value;
  readonly v: Value;
}

function cropGraph(scene: FaceScene): GraphBuilder {
  const g = new GraphBuilder('crop');
  const shape = [1, 1, scene.side, scene.side];
  const { y, u, v } = boxPlanes(g, scene);
  const codes = [y, u, v].map((plane) => resized(g, plane, shape));
  const joined = g.op('Concat', codes, { axis: 1 });
  const zeroed = g.op('Sub', [joined, g.weights([1, 3, 1, 1], [16, 128, 128])]);
  const doubled = TO_RGB.map((factor) => 2 * factor * (219 / 255));
  const rgb = g.op('Conv', [zeroed, g.weights([3, 3, 1, 1], doubled), g.weights([3], [-1, -1, -1])]);
  g.output('crop', g.op('Clip', [rgb, -1, 1]), 'float32', [1, 3, scene.side, scene.side]);
  return g;
}

function pasteGraph(scene: FaceScene): GraphBuilder {
  const g = new GraphBuilder('paste');
  const { side } = scene;
  const { width, height } = evenBox(scene);
  const old = boxPlanes(g, scene);
  const face = g.op('Clip', [g.input('face', 'float32', [1, 3, side, side]), -1, 1]);
  const mask = resized(g, g.input('mask', 'float32', [1, 1, MASK_SIZE, MASK_SIZE]), [1, 1, height, width]);
  const rgb = resized(g, face, [1, 3, height, width]);
  const codes = g.op('Conv', [rgb, g.weights([3, 3, 1, 1], FROM_RGB), g.weights([3], [125.5, 128, 128])]);
  const [luma, chroma] = g.multi('Split', [codes, g.ints([1, 2])], 2, { axis: 1 });
  if (luma === undefined || chroma === undefined) throw new Error('Split has two outputs');
  const halve = (value: Value): Value =>
    g.op('AveragePool', [value], { kernel_shape: [2, 2], strides: [2, 2] });
  const uv = g.op('Concat', [old.u, old.v], { axis: 1 });
  blend(g, 'luma', old.y, luma, mask, [1, 1, height, width]);
  blend(g, 'chroma', uv, halve(chroma), halve(mask), [1, 2, height / 2, width / 2]);
  return g;
}

function blend(
  g: GraphBuilder,
  name: string,
  old: Value,
  value: Value,
  alpha: Value,
  dims: readonly number[],
): void {
  const change = g.op('Mul', [g.op('Sub', [value, old]), alpha]);
  const mixed = g.op('Clip', [g.op('Round', [g.op('Add', [old, change])]), 0, 255]);
  g.output(name, g.op('Cast', [mixed], { to: 2 }), 'uint8', dims);
}

/** The box's part of every plane as float32. */
function boxPlanes(g: GraphBuilder, scene: FaceScene): Planes {
  const { width, height } = scene.format;
  const { left, top, width: columns, height: rows } = evenBox(scene);
  const plane = (name: string, scale: number): Value => {
    const whole = g.input(name, 'uint8', [1, 1, height / scale, width / scale]);
    const starts = g.ints([top / scale, left / scale]);
    const ends = g.ints([(top + rows) / scale, (left + columns) / scale]);
    return g.op('Cast', [g.op('Slice', [whole, starts, ends, g.ints([2, 3])])], { to: 1 });
  };
  return { y: plane('y', 1), u: plane('u', 2), v: plane('v', 2) };
}

function resized(g: GraphBuilder, value: Value, shape: readonly number[]): Value {
  return g.op('Resize', [value, null, null, g.ints(shape)], {
    mode: 'linear',
    antialias: 1,
    coordinate_transformation_mode: 'half_pixel',
  });
}

function evenBox({ box }: FaceScene) {
  const even = (value: number): number => Math.round(value / 2) * 2;
  const left = even(box.x1);
  const top = even(box.y1);
  return { left, top, width: even(box.x2) - left, height: even(box.y2) - top };
}
