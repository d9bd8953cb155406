import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger, type PriceList } from '@lipsync/runtime';
import { fixedPrice, type PodCost } from './pod-cost';
import { createPodMeter, gpuModels, podUsage } from './pod-meter';

const logger = createLogger({ service: 'test', level: 'silent' });
const RUN = {
  engine: 'musetalk',
  outputSeconds: 30,
  startedAt: new Date('2026-01-01T00:00:00Z'),
  endedAt: new Date('2026-01-01T00:00:10Z'),
  claims: 1,
  gpuInferenceMs: 4321.4,
} as const;
const bill = { observedSeconds: 10, billedSeconds: 10, usd: 0.01 };
const UNKNOWN = {
  observed_pod_seconds: null,
  billed_pod_seconds: null,
  estimated_compute_usd: null,
  estimate_coverage: 'unavailable',
};

test('GPU time and models are reported when a GPU ran, whatever the machine has', async () => {
  const meter = createPodMeter({ costs: [], slots: 1, gpuModels: ['NVIDIA L4'], logger });
  expect(await meter.measure(RUN)).toEqual({
    gpu_inference_seconds: 4.321,
    gpu_models: ['NVIDIA L4'],
    ...UNKNOWN,
  });
  const onCpu = await meter.measure({ ...RUN, gpuInferenceMs: null });
  expect(onCpu).toMatchObject({ gpu_inference_seconds: null, gpu_models: [] });
});

test('the cost is requested for the time of the run', async () => {
  const asked: Date[][] = [];
  const cost = async (from: Date, to: Date) => {
    asked.push([from, to]);
    return bill;
  };
  const meter = createPodMeter({ costs: [cost], slots: 2, gpuModels: [], logger });
  expect(await meter.measure(RUN)).toMatchObject({ billed_pod_seconds: 5, estimate_coverage: 'observed' });
  expect(asked).toEqual([[RUN.startedAt, RUN.endedAt]]);
});

test('a cost that cannot be read is logged, and the operator’s price used, or its fields left null', async () => {
  const warnings: string[] = [];
  const knowsNothing = async () => null;
  const isAway = () => Promise.reject(new Error('connection refused'));
  const price = async () => bill;
  const loud = { ...logger, warn: (message: string) => void warnings.push(message) };
  const measure = (costs: Parameters<typeof createPodMeter>[0]['costs']) =>
    createPodMeter({ costs, slots: 1, gpuModels: [], logger: loud }).measure(RUN);
  expect(await measure([knowsNothing, isAway, price])).toMatchObject({
    estimated_compute_usd: 0.01,
    estimate_coverage: 'observed',
  });
  expect(await measure([isAway])).toMatchObject(UNKNOWN);
  expect(warnings).toHaveLength(2);
});

test('what no source of costs knows is estimated by the length of the output, from a price list in dollars', async () => {
  const list = { currency: 'USD', perMinute: { musetalk: 0.25 } };
  const costOf = async (priceList: PriceList, costs: PodCost[] = []) => {
    const usage = await createPodMeter({ costs, priceList, slots: 1, gpuModels: [], logger }).measure(RUN);
    return [usage.estimated_compute_usd, usage.billed_pod_seconds, usage.estimate_coverage];
  };
  expect(await costOf(list)).toEqual([0.125, null, 'unavailable']);
  expect(await costOf(list, [async () => bill])).toEqual([0.01, 10, 'observed']);
  expect(await costOf({ ...list, currency: 'EUR' })).toEqual([null, null, 'unavailable']);
  expect(await costOf({ ...list, perMinute: { highsync: 1 } })).toEqual([null, null, 'unavailable']);
});

test.each([
  ['a single attempt, seen completely, is observed', {}, 'observed'],
  [
    'a second or two that the provider’s sampling missed still count as observed',
    { seconds: 92 },
    'observed',
  ],
  ['a window that the provider saw only partly makes the estimate partial', { seconds: 150 }, 'partial'],
  ['an earlier attempt that died unmeasured makes the estimate partial', { claims: 2 }, 'partial'],
])('%s', (_, change, coverage) => {
  const attempt = { bill: { observedSeconds: 90, billedSeconds: 120, usd: 0.06 }, seconds: 90 };
  expect(podUsage({ ...attempt, slots: 3, claims: 1, ...change })).toEqual({
    // Jobs that share a pod share its bill.
    observed_pod_seconds: 30,
    billed_pod_seconds: 40,
    estimated_compute_usd: 0.02,
    estimate_coverage: coverage,
  });
});

test('a fixed price charges every begun increment', async () => {
  const cost = fixedPrice({ usdPerHour: 3.6, incrementSeconds: 60 });
  const bill = await cost(new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:01:01Z'));
  expect(bill).toEqual({ observedSeconds: 61, billedSeconds: 120, usd: 0.12 });
});

test.each([
  ['the GPU is', ['NVIDIA L4'], ['NVIDIA L4']],
  ['of equal GPUs the one in use is', ['NVIDIA L4', 'NVIDIA L4'], ['NVIDIA L4']],
  ['of different GPUs none is', ['NVIDIA H100 80GB HBM3', 'NVIDIA L4'], []],
])('%s named as the driver names it, and without a driver none', async (_, present, named) => {
  const folder = await mkdtemp(join(tmpdir(), 'gpus-'));
  try {
    for (const [i, model] of present.entries()) {
      const bus = join(folder, `0000:0${i}:00.0`);
      await mkdir(bus);
      await writeFile(join(bus, 'information'), `Model: \t\t ${model}\nIRQ:   \t\t 60\n`);
    }
    await expect(gpuModels(folder)).resolves.toEqual(named);
    await expect(gpuModels(join(folder, 'no-such-driver'))).resolves.toEqual([]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
