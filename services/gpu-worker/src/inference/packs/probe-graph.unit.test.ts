import { type Session } from '../sessions/session';
import { probeMismatch } from './probe-graph';
import { type Tensors } from '@lipsync/engines';
import { type Probe } from '@lipsync/model-pack';

const role = {
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
  expect(await probeMismatch(role, PROBE, session)).toBeUndefined();
  expect(fed).toEqual([
    {
      x: { type: 'float32', dims: [2, 3], data: sines },
      t: { type: 'int64', dims: [1], data: BigInt64Array.of(7n) },
    },
  ]);
});

test('outputs that match the recorded values pass', async () => {
  const probe = { ...PROBE, means: { scores: mean }, rms: { scores: rms }, first: { scores: [...sines] } };
  expect(await probeMismatch(role, probe, echo().session)).toBeUndefined();
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
    expect(await probeMismatch(role, { ...PROBE, ...recorded }, echo().session)).toContain(part);
  },
);
