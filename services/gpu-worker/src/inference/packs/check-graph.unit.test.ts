import { float32Tensor, SessionError, type Tensor, type Tensors } from '@lipsync/engines';
import { type Probe } from '@lipsync/model-pack';
import { type Session } from '../sessions/session';
import { expectFinite, runProbe, tensorMismatch } from './check-graph';

const role = {
  inputs: { image: { name: 'x', dtype: 'float32' as const, dims: ['n', 3, 64] } },
  outputs: { grid: { name: 'y', dtype: 'float32' as const, dims: ['n', 5] } },
};
const x = { name: 'x', type: 'float32', dims: ['batch', 3, 64] };
const y = { name: 'y', type: 'float32', dims: ['batch', 5] };

describe('comparing a manifest with its graph', () => {
  test('a graph that declares the same tensors is accepted, additional outputs included', () => {
    expect(tensorMismatch(role, { inputs: [x], outputs: [y, { ...y, name: 'debug' }] })).toBeUndefined();
  });

  test("a graph that leaves a dimension free accepts the manifest's fixed one", () => {
    // By a name or, nameless, by -1.
    expect(tensorMismatch(role, { inputs: [{ ...x, dims: ['n', 'c', 64] }], outputs: [y] })).toBeUndefined();
    expect(tensorMismatch(role, { inputs: [{ ...x, dims: [-1, 3, -1] }], outputs: [y] })).toBeUndefined();
  });

  test.each([
    ['another name', { inputs: [{ ...x, name: 'image' }], outputs: [y] }, "input 'image'"],
    ['another element type', { inputs: [{ ...x, type: 'float16' }], outputs: [y] }, 'float16'],
    ['another size', { inputs: [{ ...x, dims: ['n', 3, 128] }], outputs: [y] }, '[n,3,128]'],
    [
      'a fixed batch where a free one is promised',
      { inputs: [x], outputs: [{ ...y, dims: [8, 5] }] },
      '[8,5]',
    ],
    ['another rank', { inputs: [x], outputs: [{ ...y, dims: ['n', 5, 1] }] }, '[n,5,1]'],
    ['a missing output', { inputs: [x], outputs: [] }, "no output 'y'"],
    ['an input nobody would feed', { inputs: [x, { ...x, name: 'z' }], outputs: [y] }, "input 'z'"],
  ])('%s is refused, and the message names it', (_, graph, part) => {
    expect(tensorMismatch(role, graph)).toContain(part);
  });
});

const probed = {
  inputs: {
    image: { name: 'x', dtype: 'float32' as const, dims: ['n', 3] },
    time: { name: 't', dtype: 'int64' as const, dims: [1] },
  },
  outputs: { scores: { name: 'y', dtype: 'float32' as const, dims: ['n', 3] } },
};
const PROBE: Probe = { dims: { n: 2 }, fill: { image: 'wave', time: 7 }, means: {}, tolerance: 1e-5 };

/** A graph that outputs its first input and remembers what it was fed. */
function echo() {
  const fed: Tensors[] = [];
  const session: Session = {
    inputs: [],
    outputs: [],
    run: (feeds) => {
      fed.push(feeds);
      const x = feeds['x'];
      return Promise.resolve({ outputs: x ? { y: x } : {}, feeds });
    },
    release: () => Promise.resolve(),
  };
  return { session, fed };
}

const sines = Float32Array.from({ length: 6 }, (_, i) => Math.sin(i));
const mean = sines.reduce((sum, value) => sum + value, 0) / 6;
const rms = Math.sqrt(sines.reduce((sum, value) => sum + value * value, 0) / 6);

test('a wave fills an input with the sines of its element indices, a number fills it uniformly', async () => {
  const { session, fed } = echo();
  expect(await runProbe(probed, PROBE, session)).toEqual({ deviation: 0, tolerance: PROBE.tolerance });
  expect(fed).toEqual([
    {
      x: { type: 'float32', dims: [2, 3], data: sines },
      t: { type: 'int64', dims: [1], data: BigInt64Array.of(7n) },
    },
  ]);
});

test('outputs that match the recorded values pass, with the largest of their deviations', async () => {
  const probe = {
    ...PROBE,
    means: { scores: mean },
    rms: { scores: rms + 5e-6 },
    first: { scores: [...sines] },
  };
  expect(await runProbe(probed, probe, echo().session)).toMatchObject({
    deviation: expect.closeTo(5e-6, 9) as number,
  });
});

test.each<[string, Partial<Probe>, string]>([
  ['mean', { means: { scores: mean + 2e-5 } }, "the mean of 'scores'"],
  ['root mean square', { rms: { scores: rms + 2e-5 } }, "the root mean square of 'scores'"],
  ['element', { first: { scores: [0, 0.5] } }, "element 1 of 'scores'"],
  ['number of elements', { first: { scores: [...sines, 0] } }, "element 6 of 'scores' is NaN"],
  ['output', { means: { boxes: 0 } }, "an output 'boxes'"],
])(
  'a %s that differs from the recorded one is a mismatch that the message names',
  async (_, recorded, part) => {
    const result = await runProbe(probed, { ...PROBE, ...recorded }, echo().session);
    expect(result).toEqual({ mismatch: expect.stringContaining(part) as string });
  },
);

const image = (value: number): Tensor =>
  float32Tensor(new Float32Array(3 * 64 * 64).fill(value), [1, 3, 64, 64]);
const look = (outputs: Record<string, Tensor>) => () => expectFinite('vae_decoder', { outputs, feeds: {} });

describe('expectFinite', () => {
  it.each([NaN, Infinity, -Infinity])('throws for an output of %d, with its role and name', (value) => {
    const outputs = { latent: image(0), image: image(value) };
    expect(look(outputs)).toThrow(SessionError);
    expect(look(outputs)).toThrow(/vae_decoder: 'image'/);
  });

  it('accepts finite numbers, integers and empty tensors', () => {
    const ids: Tensor = { type: 'int64', dims: [1], data: BigInt64Array.of(7n) };
    expect(look({ image: image(0.5), ids, boxes: float32Tensor(new Float32Array(0), [0, 4]) })).not.toThrow();
  });
});
