import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadTestGraph } from '@lipsync/engines/test/graphs';
import { encodeModel, type GraphBuilder, type Value } from '@lipsync/model-pack';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { SIMCC, simccNetwork } from '../test/dwpose-network';
import { DWPOSE_PATCH_SIDE as SIDE, dwposeLandmarks } from './dwpose';

const GOLDEN = join(__dirname, '../../test-data/simcc.json');
const FACE = [23, 91] as const;
const BYTES = SIDE * SIDE * 3;
const LEFT = (SIDE - SIMCC.width) / 2;

const MEAN = [123.675, 116.28, 103.53];
const DEVIATION = [58.395, 57.12, 57.375];

describe('DWPose as a landmark network', () => {
  /** Points of a batch of patches, as fractions. */
  async function pointsOf(network: Uint8Array, patches: Uint8Array): Promise<Float32Array> {
    const graph = await loadTestGraph(encodeModel(dwposeLandmarks(network)));
    const dims = [patches.length / BYTES, SIDE, SIDE, 3];
    const points = await graph.run({ image: new Tensor('uint8', patches, dims) });
    await graph.release();
    return points;
  }

  test("points are read from the scores as by mmpose's own code", async () => {
    const golden = JSON.parse(readFileSync(GOLDEN, 'utf8')) as { keypoints: [number, number][] };
    const network = simccNetwork((g, input) => ({
      x: constant(
        g,
        input,
        scores(SIMCC.width, 31, (keypoint, score) => (keypoint === 41 ? 0.5 : score)),
      ),
      y: constant(
        g,
        input,
        scores(SIMCC.height, 37, (keypoint, score) => (keypoint === 40 ? score - 1 : score)),
      ),
    }));
    const points = await pointsOf(network, new Uint8Array(BYTES));
    const inInput = golden.keypoints.slice(...FACE);
    expect(inInput[40 - FACE[0]]).toEqual([-0.5, -0.5]);
    expect(inInput[41 - FACE[0]]?.[0]).toBe(0);
    const expected = inInput.flatMap(([x, y]) => [(LEFT + x + 0.5) / SIDE, (y + 0.5) / SIDE]);
    expect(points).toHaveLength(expected.length);
    points.forEach((value, i) => expect(value).toBeCloseTo(expected[i] ?? NaN, 6));
  });

  test('a point is at the middle of the pixel that the network means, for every picture of a batch', async () => {
    // Both axes follow the brightest pixel, in the color that stands for the point.
    const network = simccNetwork((g, input) => ({
      x: brightest(g, input, 2, SIMCC.width),
      y: brightest(g, input, 3, SIMCC.height),
    }));
    const places = [
      [70, 11],
      [LEFT, 0],
      [SIDE - LEFT - 1, SIDE - 1],
    ] as const;
    const patches = new Uint8Array(places.length * BYTES).fill(100);
    // Brighter than all else, but outside of what the network sees.
    places.forEach((_, i) => patches.fill(255, i * BYTES + LEFT * 3 - 3, i * BYTES + LEFT * 3));
    places.forEach(([x, y], i) =>
      patches.fill(200, i * BYTES + (y * SIDE + x) * 3, i * BYTES + (y * SIDE + x) * 3 + 3),
    );
    const points = await pointsOf(network, patches);
    places.forEach(([x, y], i) => {
      expect(points[i * 136]).toBeCloseTo((x + 0.5) / SIDE, 6);
      expect(points[i * 136 + 1]).toBeCloseTo((y + 0.5) / SIDE, 6);
    });
  });

  test('with random weights it computes what the network says about the normalized picture', async () => {
    const file = simccNetwork(randomNetwork);
    const patches = Uint8Array.from({ length: 2 * BYTES }, (_, i) => 128 + 120 * Math.sin(i / 7 + i / 5000));
    const session = await InferenceSession.create(file, { intraOpNumThreads: 1 });
    const { simcc_x: x, simcc_y: y } = await session.run({ input: normalized(patches) });
    await session.release();
    const points = await pointsOf(file, patches);
    const read = (tensor: Tensor | undefined, size: number, i: number): number => {
      const [face, picture] = [i % 68, Math.floor(i / 68)];
      const at = (picture * SIMCC.keypoints + FACE[0] + face) * size * SIMCC.split;
      const row = Array.from(tensor?.data ?? [], Number).slice(at, at + size * SIMCC.split);
      return row.indexOf(Math.max(...row)) / SIMCC.split;
    };
    const places = new Set<number>();
    for (const i of [0, 1, 30, 67, 68, 97, 135]) {
      const wanted = [read(x, SIMCC.width, i), read(y, SIMCC.height, i)] as const;
      places.add(wanted[0]);
      expect(points[i * 2]).toBeCloseTo((LEFT + wanted[0] + 0.5) / SIDE, 5);
      expect(points[i * 2 + 1]).toBeCloseTo((wanted[1] + 0.5) / SIDE, 5);
    }
    expect(places.size).toBeGreaterThan(4);
  });

  test('another network is refused, with what is different', () => {
    const good = (g: GraphBuilder, input: Value) => ({
      x: constant(g, input, scores(SIMCC.width, 31)),
      y: constant(g, input, scores(SIMCC.height, 37)),
    });
    const file = simccNetwork(good);
    const refusal = (network: Uint8Array): string => {
      try {
        dwposeLandmarks(network);
        return 'accepted';
      } catch (error) {
        return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
      }
    };
    const other = (from: string, to: string): Uint8Array => {
      const text = Buffer.from(file).toString('latin1');
      expect(text).toContain(from);
      return Buffer.from(text.replaceAll(from, to), 'latin1');
    };
    expect(refusal(file)).toBe('accepted');
    expect(refusal(other('simcc_y', 'simcc_z'))).toMatch(/^PackError: .*simcc_y differs or is missing/);
    // Field 2, a name, of seven bytes, becomes field 1, a number, in as many.
    expect(refusal(other('\x0a\x07\x12\x05batch', '\x0a\x07\x08\x81\x80\x80\x80\x80\x00'))).toContain(
      'is for one picture at a time',
    );
    expect(refusal(simccNetwork(good, 9))).toContain("version 9 of ONNX's operators");
    expect(refusal(file.subarray(0, file.length - 9))).toContain('ends early');
    expect(refusal(Buffer.from('version https://git-lfs.github.com/spec/v1'))).toContain('no ');
  });
});

/** The formula of scripts/export/golden_simcc.py. */
function scores(size: number, step: number, change = (_: number, score: number) => score): Float32Array {
  const places = size * SIMCC.split;
  return Float32Array.from({ length: SIMCC.keypoints * places }, (_, i) =>
    change(Math.floor(i / places), Math.fround(((i * i * step + i * 7) % 9973) / 9973)),
  );
}

/** Scores that do not depend on the picture, once per picture of the batch. */
function constant(g: GraphBuilder, input: Value, values: Float32Array): Value {
  const nothing = g.op('Mul', [g.op('ReduceMean', [input], { axes: [1, 2, 3], keepdims: 1 }), 0]);
  const each = g.op('Squeeze', [nothing], { axes: [1] });
  return g.op('Add', [each, g.weights([1, SIMCC.keypoints, values.length / SIMCC.keypoints], values)]);
}

/** [n, 3, h, w] → the greatest value of every column or row, at the first of its places: [n, 133, 2 · size]. */
function brightest(g: GraphBuilder, input: Value, away: 2 | 3, size: number): Value {
  const line = g.op('ReduceMax', [input], { axes: [1, away], keepdims: 0 });
  const first = g.op('Unsqueeze', [g.op('Reshape', [line, g.ints([-1, size])])], { axes: [2] });
  const both = g.op('Concat', [first, g.op('Sub', [first, 1])], { axis: 2 });
  const places = g.op('Reshape', [both, g.ints([-1, 1, size * SIMCC.split])]);
  return g.op('Tile', [places, g.ints([1, SIMCC.keypoints, 1])]);
}

/** A convolution, features of every keypoint, and from them the scores along both axes, as in DWPose's head. */
function randomNetwork(g: GraphBuilder, input: Value): { x: Value; y: Value } {
  let state = 7;
  const random = (...dims: number[]): Value => {
    const next = (): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
      return state / 2 ** 30 - 1;
    };
    return g.weights(dims, Float32Array.from({ length: dims.reduce((all, dim) => all * dim, 1) }, next));
  };
  const cells = g.op('Conv', [input, random(4, 3, 96, 96)], { kernel_shape: [96, 96], strides: [96, 96] });
  const flat = g.op('Reshape', [cells, g.ints([-1, 48])]);
  const features = g.op('Reshape', [
    g.op('MatMul', [flat, random(48, SIMCC.keypoints * 4)]),
    g.ints([-1, SIMCC.keypoints, 4]),
  ]);
  return {
    x: g.op('MatMul', [features, random(4, SIMCC.width * SIMCC.split)]),
    y: g.op('MatMul', [features, random(4, SIMCC.height * SIMCC.split)]),
  };
}

/** What mmpose feeds: the middle columns, planar, normalized per color. */
function normalized(patches: Uint8Array): Tensor {
  const { width, height } = SIMCC;
  const area = width * height;
  const data = new Float32Array((patches.length / BYTES) * 3 * area);
  for (let i = 0; i < data.length; i++) {
    const [picture, color, y, x] = [
      Math.floor(i / area / 3),
      Math.floor(i / area) % 3,
      Math.floor((i % area) / width),
      i % width,
    ];
    const level = patches[picture * BYTES + (y * SIDE + LEFT + x) * 3 + color] ?? NaN;
    data[i] = (level - (MEAN[color] ?? NaN)) / (DEVIATION[color] ?? NaN);
  }
  return new Tensor('float32', data, [patches.length / BYTES, 3, height, width]);
}
