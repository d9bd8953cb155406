import { InferenceSession, Tensor } from 'onnxruntime-node';
import { decodeNetwork } from './decode-network';
import { encodeModel, float } from './encode-model';
import { GraphBuilder } from './graph-builder';

interface Result {
  dims: readonly number[];
  values: number[];
}

async function run(graph: GraphBuilder, feeds: Record<string, Tensor>): Promise<Record<string, Result>> {
  // Level 4: errors are thrown and need not be printed as well.
  const session = await InferenceSession.create(encodeModel(graph.build()), { logSeverityLevel: 4 });
  try {
    const results: Record<string, Result> = {};
    for (const [name, { dims, data }] of Object.entries(await session.run(feeds))) {
      results[name] = { dims, values: Array.from(data, Number) };
    }
    return results;
  } finally {
    await session.release();
  }
}

describe('GraphBuilder', () => {
  test('ONNX Runtime computes what the graph says, with free dimensions and scalar operands', async () => {
    const g = new GraphBuilder('affine');
    const x = g.input('x', 'float32', ['n', 3]);
    const scaled = g.op('Mul', [x, g.weights([3], [1, 10, 100])]);
    g.output('y', g.op('Add', [scaled, -0.5]), 'float32', ['n', 3]);

    const { y } = await run(g, { x: new Tensor('float32', Float32Array.of(1, 2, 3, 4, 5, 6), [2, 3]) });

    expect(y?.dims).toEqual([2, 3]);
    expect(y?.values).toEqual([0.5, 19.5, 299.5, 3.5, 49.5, 599.5]);
  });

  test('float, integer-list and string attributes and omitted inputs reach the operators', async () => {
    const g = new GraphBuilder('attributes');
    const x = g.input('x', 'float32', [1, 1, 2, 2]);
    const leaky = g.op('LeakyRelu', [x], { alpha: float(1) });
    const doubled = g.op('Resize', [leaky, null, g.weights([4], [1, 1, 2, 2])], {
      mode: 'nearest',
      coordinate_transformation_mode: 'asymmetric',
      nearest_mode: 'floor',
    });
    g.output('y', g.op('Transpose', [doubled], { perm: [0, 1, 3, 2] }), 'float32', [1, 1, 4, 4]);

    const { y } = await run(g, { x: new Tensor('float32', Float32Array.of(-1, 2, 3, 4), [1, 1, 2, 2]) });

    expect(y?.values).toEqual([-1, -1, 3, 3, -1, -1, 3, 3, 2, 2, 4, 4, 2, 2, 4, 4]);
  });

  test('operators with several outputs, int64 constants and negative numbers survive encoding', async () => {
    const g = new GraphBuilder('split');
    const x = g.input('x', 'uint8', [4]);
    const [head, tail] = g.split(x, [1, 3], -1);
    g.output('head', head, 'uint8', [1]);
    g.output(
      'tail',
      g.op('Slice', [tail, g.ints([-1]), g.ints([-9]), g.ints([0]), g.ints([-1])]),
      'uint8',
      [3],
    );

    const { head: first, tail: rest } = await run(g, {
      x: new Tensor('uint8', Uint8Array.of(9, 8, 7, 6), [4]),
    });

    expect(first?.values).toEqual([9]);
    expect(rest?.values).toEqual([6, 7, 8]);
  });

  test('only the chosen one of two branches runs, on values computed earlier', async () => {
    const g = new GraphBuilder('choice');
    const x = g.input('x', 'float32', ['n']);
    const doubled = g.op('Mul', [x, 2]);
    const chosen = g.choose(
      g.input('plain', 'bool', []),
      { dtype: 'float32', dims: ['n'] },
      () => doubled,
      // Reading beyond the end fails, so a result shows that this branch was not taken.
      () => g.op('Add', [g.op('Gather', [doubled, g.ints([9])]), 3]),
    );
    g.output('y', g.op('Add', [chosen, 3]), 'float32', ['n']);
    const feed = (plain: number, length: number) => ({
      x: new Tensor(
        'float32',
        Float32Array.from({ length }, (_, i) => i),
        [length],
      ),
      plain: new Tensor('bool', Uint8Array.of(plain), []),
    });

    expect((await run(g, feed(1, 3)))['y']?.values).toEqual([3, 5, 7]);
    expect((await run(g, feed(0, 10)))['y']?.values).toEqual([24]);
    await expect(run(g, feed(0, 3))).rejects.toThrow(/out of/);
  });

  test('a network from elsewhere can be embedded whose values have other names', async () => {
    const inner = new GraphBuilder('inner', 'inner.');
    inner.output('sum', inner.op('Add', [inner.input('x', 'float32', ['n']), 1]), 'float32', ['n']);
    const network = decodeNetwork(encodeModel({ ...inner.build(), operators: 13 }));
    expect(network).toMatchObject({
      operators: 13,
      inputs: [{ name: 'x', dtype: 'float32', dims: ['n'] }],
      outputs: [{ name: 'sum', dtype: 'float32', dims: ['n'] }],
    });

    const around = (prefix: string): GraphBuilder => {
      const g = new GraphBuilder('outer', prefix);
      const doubled = g.op('Mul', [g.input('number', 'float32', ['n']), 2]);
      const output = g.embed(network, { x: doubled });
      expect(() => output('product')).toThrow('the network has no product');
      g.output('y', g.op('Mul', [output('sum'), 10]), 'float32', ['n']);
      return g;
    };
    const g = around('outer.');
    const { y } = await run(g, { number: new Tensor('float32', Float32Array.of(1, 2), [2]) });
    expect(y?.values).toEqual([30, 50]);
    expect(() => around('inner.').build()).toThrow('graph outer has two values that are called inner.');
    expect(() => new GraphBuilder('empty').embed(network, {})).toThrow('the network wants x');
  });

  test('a tensor whose data does not fill its dimensions is refused by name', () => {
    const g = new GraphBuilder('short');
    g.weights([2, 2], [1, 2, 3]);
    expect(() => encodeModel(g.build())).toThrow('tensor c0: dims [2,2] hold 4 elements, got 3');
  });

  test('a fraction passed as an integer attribute is refused by name', () => {
    const g = new GraphBuilder('fraction');
    g.op('LeakyRelu', [g.input('x', 'float32', [1])], { alpha: 0.1 });
    expect(() => encodeModel(g.build())).toThrow('attribute alpha: 0.1 is not an integer');
  });
});
