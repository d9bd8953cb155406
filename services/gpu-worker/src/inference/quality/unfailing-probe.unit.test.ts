import { type SeenQuality } from '../../protocol/output-quality';
import { type LoadedAnalyzer } from '../analyzer/loaded-analyzer';
import { type QualityProbe } from './quality-probe';
import { createUnfailingProbe } from './unfailing-probe';
import { SessionError } from '@lipsync/engines';

const SEEN: SeenQuality = {
  ...{ seamLevels: 2, skinPsnrDb: 40, facelessShare: 0.1, enlargedShare: 0, largestEnlargement: 0.5 },
  sampledFrames: 75,
};
const IN_SYNC = { syncCorrelation: 0.8, syncLagFrames: 1 };
const OUT_OF_SYNC = { syncCorrelation: null, syncLagFrames: null };
const analyzer: LoadedAnalyzer = {
  params: {
    detector: {
      ...{ inputSizes: [416], stride: 32, scoreThreshold: 0.3, overlapThreshold: 0.4 },
      closeUp: { inputSize: 160, scale: 1.8, scoreThreshold: 0.15, sureScore: 0.6 },
    },
    landmarks: { inputSize: 112, scale: 1.2, maxDisagreement: 0.03, maxDisagreementBlurred: 0.045 },
  },
  version: 'none@1.0.0',
  run: () => Promise.reject(new Error('there are no networks')),
};
const load = (): Promise<LoadedAnalyzer> => Promise.resolve(analyzer);
const frame = new Uint8Array(1);

function probeThat(does: Partial<QualityProbe>) {
  const looks: string[] = [];
  const probe: QualityProbe = {
    passed: () => void looks.push('passed'),
    taken: (enlargement) => void looks.push(`taken ${enlargement}`),
    before: (_, output) => void looks.push(`before ${output}`),
    after: (_, output) => void looks.push(`after ${output}`),
    seen: () => SEEN,
    sync: () => Promise.resolve(IN_SYNC),
    ...does,
  };
  return { probe: createUnfailingProbe(probe), looks };
}

test('a working probe receives every call, and its measurements are passed on', async () => {
  const { probe, looks } = probeThat({});
  probe.taken(0.5);
  probe.before(frame, 7);
  probe.after(frame, 7);
  probe.passed();
  expect(looks).toEqual(['taken 0.5', 'before 7', 'after 7', 'passed']);
  expect(await probe.judge(load)).toEqual({ ...IN_SYNC, ...SEEN, problem: null });
});

test('failing networks cost only the sync', async () => {
  const { probe } = probeThat({ sync: () => Promise.reject(new Error('out of memory')) });
  expect(await probe.judge(load)).toEqual({ ...OUT_OF_SYNC, ...SEEN, problem: 'out of memory' });
});

test.each([
  ['run_failed', true],
  ['load_failed', true],
  ['out_of_memory', false],
] as const)('tells of a graph that failed, %s, for a reason other than memory: %s', async (reason, told) => {
  const { probe } = probeThat({ sync: () => Promise.reject(new SessionError(reason, 'no')) });
  expect(probe.graphFailed()).toBe(false);
  await probe.judge(load);
  expect(probe.graphFailed()).toBe(told);
});

test('so does an analyser that cannot be loaded', async () => {
  const { probe } = probeThat({});
  const judged = await probe.judge(() => Promise.reject(new Error('no such file')));
  expect(judged).toEqual({ ...OUT_OF_SYNC, ...SEEN, problem: 'no such file' });
});

test.each(['before', 'after'] as const)(
  'an observation that fails %s a face was written is reported, fails no frame, and is the last one',
  async (look) => {
    const fails = (): never => {
      throw new RangeError('beyond the picture');
    };
    const { probe, looks } = probeThat({ [look]: fails });
    for (const output of [1, 2]) {
      probe.before(frame, output);
      probe.after(frame, output);
    }
    expect(looks).toEqual(look === 'before' ? [] : ['before 1']);
    expect(await probe.judge(load)).toEqual({ ...IN_SYNC, ...SEEN, problem: 'beyond the picture' });
  },
);
