/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { float32Of, float32Tensor } from '@lipsync/engines';
import { encodeModel, GraphBuilder } from '@lipsync/model-pack';
import { createSessionHost, type TimedSessionHost } from './session-host';

const ENTRY = join(__dirname, '../../../dist/inference/sessions/session-worker.js');

describe('session host', () => {
  let folder: string;
  let host: TimedSessionHost;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sessions-'));
    await writeFile(join(folder, 'halve.onnx'), halve());
    await writeFile(join(folder, 'slow.onnx'), chainOfConvolutions());
    await writeFile(join(folder, 'text.onnx'), 'not a graph');
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  beforeEach(() => {
    host = createSessionHost(ENTRY);
  });
  afterEach(() => host.close());

  test('a graph reports its inputs and outputs by name, type and shape', async () => {
    const session = await host.open(join(folder, 'halve.onnx'));
    expect(session.inputs).toEqual([{ name: 'x', type: 'float32', dims: ['n', 2] }]);
    expect(session.outputs).toEqual([{ name: 'y', type: 'float32', dims: ['n', 2] }]);
  });

  test('feeds are transferred to the thread and their memory comes back with the result', async () => {
    const session = await host.open(join(folder, 'halve.onnx'));
    const data = Float32Array.of(2, 4, 6, 8);

    const running = session.run({ x: float32Tensor(data, [2, 2]) });
    expect(data.byteLength).toBe(0);
    const { outputs, feeds } = await running;

    expect([...float32Of(outputs, 'y')]).toEqual([1, 2, 3, 4]);
    expect([...float32Of(feeds, 'x')]).toEqual([2, 4, 6, 8]);
    expect(host.tensorBytes()).toEqual({ given: 16, received: 16 });
  });

  test('an output is written to the given memory', async () => {
    const session = await host.open(join(folder, 'halve.onnx'));
    const target = new Float32Array(4).fill(9);
    const memory = float32Tensor(target, [2, 2]);

    const running = session.run({ x: float32Tensor(Float32Array.of(2, 4, 6, 8), [2, 2]) }, { y: memory });
    expect(target.byteLength).toBe(0);
    const { outputs } = await running;

    expect([...float32Of(outputs, 'y')]).toEqual([1, 2, 3, 4]);
    const tooSmall = { y: float32Tensor(new Float32Array(2), [1, 2]) };
    const wrong = session.run({ x: float32Tensor(new Float32Array(4), [2, 2]) }, tooSmall);
    await expect(wrong).rejects.toMatchObject({ reason: 'run_failed' });
  });

  test('a view on part of a buffer is copied: its neighbors stay usable', async () => {
    const session = await host.open(join(folder, 'halve.onnx'));
    const pool = Float32Array.of(1, 2, 3, 4);

    const { outputs } = await session.run({ x: float32Tensor(pool.subarray(2, 4), [1, 2]) });

    expect([...float32Of(outputs, 'y')]).toEqual([1.5, 2]);
    expect([...pool]).toEqual([1, 2, 3, 4]);
  });

  test('two batches in flight finish in order, and this thread stays free meanwhile', async () => {
    const session = await host.open(join(folder, 'slow.onnx'));
    const finished: number[] = [];
    let turns = 0;
    const turn = (): void => {
      turns++;
      next = setImmediate(turn);
    };
    let next = setImmediate(turn);

    const runs = [1, 2].map(async (value) => {
      const { outputs } = await session.run({
        x: float32Tensor(new Float32Array(SLOW_SIZE).fill(value), SLOW_DIMS),
      });
      finished.push(value);
      return float32Of(outputs, 'y')[0];
    });
    const firsts = await Promise.all(runs);
    clearImmediate(next);

    expect(finished).toEqual([1, 2]);
    expect(firsts).toEqual([1, 2]);
    // If the graph ran on this thread, its loop would turn a few times: before the runs and between them.
    expect(turns).toBeGreaterThan(20);
  });

  test('an invalid file, a wrong shape and a released session each fail on their own', async () => {
    await expect(host.open(join(folder, 'text.onnx'))).rejects.toMatchObject({ reason: 'load_failed' });
    const session = await host.open(join(folder, 'halve.onnx'));
    const wrong = session.run({ x: float32Tensor(new Float32Array(3), [1, 3]) });
    await expect(wrong).rejects.toMatchObject({ reason: 'run_failed' });
    const { outputs } = await session.run({ x: float32Tensor(Float32Array.of(2, 2), [1, 2]) });
    expect([...float32Of(outputs, 'y')]).toEqual([1, 1]);
    await session.release();
    const late = session.run({ x: float32Tensor(Float32Array.of(2, 2), [1, 2]) });
    await expect(late).rejects.toMatchObject({ reason: 'closed' });
  });

  test('closing waits for the run in progress instead of tearing its thread down', async () => {
    const session = await host.open(join(folder, 'slow.onnx'));
    const running = session.run({ x: float32Tensor(new Float32Array(SLOW_SIZE).fill(3), SLOW_DIMS) });
    await host.close();
    const { outputs } = await running;
    expect(float32Of(outputs, 'y')[0]).toBe(3);
    await expect(host.open(join(folder, 'halve.onnx'))).rejects.toMatchObject({ reason: 'closed' });
  });
});

test('the death of the thread is reported once, and no call waits for it', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sessions-'));
  const entry = join(folder, 'worker.js');
  await writeFile(
    entry,
    "require('node:worker_threads').parentPort.on('message', () => { throw new Error('broken'); });",
  );
  const reasons: string[] = [];
  const host = createSessionHost(entry, (reason) => reasons.push(reason));
  await expect(host.open('any.onnx')).rejects.toMatchObject({ reason: 'closed' });
  await expect(host.open('any.onnx')).rejects.toMatchObject({ reason: 'closed' });
  await host.close();
  expect(reasons).toEqual([expect.stringContaining('broken')]);
  await rm(folder, { recursive: true });
});

const SLOW_DIMS = [1, 16, 128, 128];
const SLOW_SIZE = 16 * 128 * 128;

function halve(): Uint8Array {
  const g = new GraphBuilder('halve');
  const x = g.input('x', 'float32', ['n', 2]);
  g.output('y', g.op('Mul', [x, 0.5]), 'float32', ['n', 2]);
  return encodeModel(g.build());
}

/** Identity kernels: the result equals the input, but every element is computed 40 times over 16 channels. */
function chainOfConvolutions(): Uint8Array {
  const g = new GraphBuilder('slow');
  let value = g.input('x', 'float32', SLOW_DIMS);
  const identity = Float32Array.from({ length: 16 * 16 }, (_, i) => (i % 17 === 0 ? 1 : 0));
  const kernel = g.weights([16, 16, 1, 1], identity);
  for (let i = 0; i < 40; i++) value = g.op('Conv', [value, kernel]);
  g.output('y', value, 'float32', SLOW_DIMS);
  return encodeModel(g.build());
}
