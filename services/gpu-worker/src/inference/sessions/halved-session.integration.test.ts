/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { float32Of, float32Tensor, type Tensors } from '@lipsync/engines';
import { encodeModel, GraphBuilder } from '@lipsync/model-pack';
import { testFolder } from '@lipsync/testkit';
import { halveWhenOutOfMemory } from './halved-session';
import { type Session, type SessionHost } from './session';
import { createSessionHost } from './session-host';

const ENTRY = join(__dirname, '../../../dist/inference/sessions/session-worker.js');

describe('a graph that has memory for four rows', () => {
  const at = testFolder();
  let host: SessionHost;
  let graph: Session;
  let session: Session;
  let batches: number[];

  beforeAll(async () => {
    await writeFile(at('greedy.onnx'), greedyGraph());
  });
  beforeEach(async () => {
    host = createSessionHost(ENTRY);
    graph = await host.open(at('greedy.onnx'));
    batches = [];
    session = halveWhenOutOfMemory({
      ...graph,
      run: (feeds, targets) => {
        batches.push(feeds['x']?.dims[0] ?? 0);
        return graph.run(feeds, targets);
      },
    });
  });
  afterEach(() => host.close());

  const feeds = (batch: number): Tensors => ({
    x: float32Tensor(
      Float32Array.from({ length: batch * 2 }, (_, i) => i),
      [batch, 2],
    ),
    add: float32Tensor(Float32Array.of(10), [1]),
  });
  const sums = (batch: number): number[] => Array.from({ length: batch * 2 }, (_, i) => i + 10);

  test('gives the same output in halves, and is not given a whole batch again', async () => {
    await expect(graph.run(feeds(8))).rejects.toMatchObject({ reason: 'out_of_memory' });

    const { outputs, feeds: back } = await session.run(feeds(8));
    expect([...float32Of(outputs, 'y')]).toEqual(sums(8));
    expect(outputs['y']?.dims).toEqual([8, 2]);
    expect(back).toEqual(feeds(8));

    await session.run(feeds(8));
    expect(batches).toEqual([8, 4, 4, 4, 4]);
  });

  test('writes odd halves into the target memory', async () => {
    const target = new Float32Array(14).fill(9);
    const { buffer } = target;
    const { outputs } = await session.run(feeds(7), { y: float32Tensor(target, [7, 2]) });
    expect([...float32Of(outputs, 'y')]).toEqual(sums(7));
    expect(buffer.byteLength).toBe(0);
    expect(batches).toEqual([7, 4, 3]);
  });

  test('fails when a half is too large as well, and is tried whole again', async () => {
    await expect(session.run(feeds(16))).rejects.toMatchObject({ reason: 'out_of_memory' });
    expect(batches).toEqual([16, 8]);
    const { outputs } = await session.run(feeds(4));
    expect([...float32Of(outputs, 'y')]).toEqual(sums(4));
    expect(batches).toEqual([16, 8, 4]);
  });

  test('leaves other failures alone', async () => {
    const wrong = { ...feeds(4), add: float32Tensor(new Float32Array(3), [3]) };
    await expect(session.run(wrong)).rejects.toMatchObject({ reason: 'run_failed' });
    expect(batches).toEqual([4]);
  });
});

/** y = x + add, computed through one float per element, or 2^45 of them when a batch has more than four rows. */
function greedyGraph(): Uint8Array {
  const g = new GraphBuilder('greedy');
  const x = g.input('x', 'float32', ['batch', 2]);
  const add = g.input('add', 'float32', [1]);
  const rows = g.op('Gather', [g.op('Shape', [x]), g.ints([0])]);
  const cells = g.op('Where', [g.op('Greater', [rows, g.ints([4])]), g.ints([2 ** 45]), g.ints([1])]);
  const nothing = g.op('ReduceMax', [g.op('Expand', [g.scalar(0), cells])], { keepdims: 0 });
  g.output('y', g.op('Add', [g.op('Add', [x, add]), nothing]), 'float32', ['batch', 2]);
  return encodeModel(g.build());
}
