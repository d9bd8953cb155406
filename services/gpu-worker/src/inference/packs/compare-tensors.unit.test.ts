import { tensorMismatch } from './compare-tensors';

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
