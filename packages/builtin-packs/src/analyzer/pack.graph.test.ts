import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { openPackFor } from '@lipsync/engines';
import { modelPath } from '@lipsync/model-pack';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { buildAnalyzerPack } from './pack';
import { readWeights } from './weight-file';

const WEIGHTS = join(dirname(require.resolve('@vladmandic/face-api/package.json')), 'model');

// Computed by @vladmandic/face-api 1.7.15 itself, with TensorFlow.js' own CPU kernels, for the picture below.
const POINTS_REFERENCE = [
  [0, 0.4165044, 0.6140741],
  [8, 0.761127, 0.5072291],
  [30, 0.5736097, 0.5636162],
  [36, 0.5615613, 0.6699897],
  [51, 0.6431412, 0.4789434],
  [66, 0.658236, 0.4752788],
] as const;
/** Indices are [row][column][anchor]; then score and box. */
const BOXES_REFERENCE = [
  [0, 0.00007301, [-10.6819, -12.5528, 41.1838, 38.9773]],
  [7, 0.00001871, [-3.7339, -36.4793, 90.7238, 66.4496]],
  [63, 0.00005101, [9.9754, -7.0087, 139.6924, 145.0261]],
  [124, 0.00000006, [-65.9116, -35.0055, 353.0356, 346.209]],
] as const;

/** A deterministic picture with structure at several scales. */
function pattern(width: number, height: number): Uint8Array {
  return Uint8Array.from({ length: width * height * 3 }, (_, i) => {
    const channel = i % 3;
    const x = Math.floor(i / 3) % width;
    const y = Math.floor(i / 3 / width);
    return 128 + 60 * Math.sin(x / (7 + channel)) + 60 * Math.cos(y / 11 + x / 31);
  });
}

describe('the analyzer pack', () => {
  let dir: string;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'analyzer-'));
    await buildAnalyzerPack(join(dir, 'pack'));
  });
  afterAll(() => rm(dir, { recursive: true }));

  async function run(
    role: 'face_detector' | 'landmarks68',
    image: Tensor,
  ): Promise<InferenceSession.ReturnType> {
    const pack = await openPackFor('analyzer', join(dir, 'pack'));
    const session = await InferenceSession.create(modelPath(pack, pack.manifest.roles[role]));
    const outputs = await session.run({ image });
    await session.release();
    return outputs;
  }
  const numbers = (tensor: Tensor | undefined): number[] => Array.from(tensor?.data ?? [], Number);

  test('the landmark network matches the original implementation', async () => {
    const { points } = await run('landmarks68', new Tensor('uint8', pattern(112, 112), [1, 112, 112, 3]));

    expect(points?.dims).toEqual([1, 68, 2]);
    for (const [index, x, y] of POINTS_REFERENCE) {
      expect(numbers(points)[index * 2]).toBeCloseTo(x, 5);
      expect(numbers(points)[index * 2 + 1]).toBeCloseTo(y, 5);
    }
  });

  test('the detector matches the boxes and scores of the original implementation, on oblong frames too', async () => {
    const square = await run('face_detector', new Tensor('uint8', pattern(160, 160), [1, 160, 160, 3]));
    expect(square.boxes?.dims).toEqual([125, 4]);
    for (const [index, score, box] of BOXES_REFERENCE) {
      expect(numbers(square.scores)[index]).toBeCloseTo(score, 5);
      box.forEach((value, k) => expect(numbers(square.boxes)[index * 4 + k]).toBeCloseTo(value, 2));
    }

    const oblong = await run('face_detector', new Tensor('uint8', pattern(320, 192), [1, 192, 320, 3]));
    expect(oblong.scores?.dims).toEqual([5 * 10 * 6]);
  });

  test('landmarks of a batch equal those of its faces one by one', async () => {
    const one = pattern(112, 112);
    const two = one.slice().reverse();
    const both = new Uint8Array([...one, ...two]);
    const batch = await run('landmarks68', new Tensor('uint8', both, [2, 112, 112, 3]));
    const first = await run('landmarks68', new Tensor('uint8', one, [1, 112, 112, 3]));
    const second = await run('landmarks68', new Tensor('uint8', two, [1, 112, 112, 3]));

    const expected = [...numbers(first.points), ...numbers(second.points)];
    numbers(batch.points).forEach((value, i) => expect(value).toBeCloseTo(expected[i] ?? NaN, 5));
  });

  test('weight files that are truncated are refused by name', async () => {
    const model = 'face_landmark_68_model';
    const manifest = await readFile(join(WEIGHTS, `${model}-weights_manifest.json`));
    const weights = await readFile(join(WEIGHTS, `${model}.bin`));
    await writeFile(join(dir, `${model}-weights_manifest.json`), manifest);
    await writeFile(join(dir, `${model}.bin`), weights.subarray(0, weights.length - 1));
    await expect(readWeights(dir, model)).rejects.toThrow('weights end before fc/bias');
  });
});
