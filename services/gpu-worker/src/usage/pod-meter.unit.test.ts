import { createLogger } from '@lipsync/runtime';
import { fixedPrice } from './pod-cost';
import { createPodMeter, podUsage } from './pod-meter';

const logger = createLogger({ service: 'test', level: 'silent' });
const RUN = {
  startedAt: new Date('2026-01-01T00:00:00Z'),
  endedAt: new Date('2026-01-01T00:00:10Z'),
  claims: 1,
  gpuInferenceMs: 4321.4,
};
const bill = { observedSeconds: 10, billedSeconds: 10, usd: 0.01 };

test('GPU time and models are reported when a GPU ran', async () => {
  const meter = createPodMeter({ costs: [], slots: 1, gpuModels: ['NVIDIA L4'], logger });
  expect(await meter.measure(RUN)).toMatchObject({
    gpu_inference_seconds: 4.321,
    gpu_models: ['NVIDIA L4'],
    estimate_coverage: 'unavailable',
  });
});

test('a run on the CPU used no GPU, whatever the machine has', async () => {
  const meter = createPodMeter({ costs: [], slots: 1, gpuModels: ['NVIDIA L4'], logger });
  const usage = await meter.measure({ ...RUN, gpuInferenceMs: null });
  expect(usage).toMatchObject({ gpu_inference_seconds: null, gpu_models: [] });
});

test('the cost is requested for the time of the run', async () => {
  const asked: Date[][] = [];
  const cost = {
    bill: async (from: Date, to: Date) => {
      asked.push([from, to]);
      return bill;
    },
  };
  const meter = createPodMeter({ costs: [cost], slots: 2, gpuModels: [], logger });
  expect(await meter.measure(RUN)).toMatchObject({ billed_pod_seconds: 5, estimate_coverage: 'observed' });
  expect(asked).toEqual([[RUN.startedAt, RUN.endedAt]]);
});

test('a cost that cannot be read leaves its fields null and logs the reason', async () => {
  const warnings: string[] = [];
  const cost = { bill: () => Promise.reject(new Error('connection refused')) };
  const loud = { ...logger, warn: (message: string) => void warnings.push(message) };
  const meter = createPodMeter({ costs: [cost], slots: 1, gpuModels: [], logger: loud });
  expect(await meter.measure(RUN)).toMatchObject({
    billed_pod_seconds: null,
    estimate_coverage: 'unavailable',
  });
  expect(warnings).toHaveLength(1);
});

test('the operator’s price is used while an endpoint has no data or is unavailable', async () => {
  const knowsNothing = { bill: async () => null };
  const isAway = { bill: () => Promise.reject(new Error('connection refused')) };
  const price = { bill: async () => bill };
  const meter = createPodMeter({ costs: [knowsNothing, isAway, price], slots: 1, gpuModels: [], logger });
  expect(await meter.measure(RUN)).toMatchObject({
    estimated_compute_usd: 0.01,
    estimate_coverage: 'observed',
  });
});

const BILL = { observedSeconds: 90, billedSeconds: 120, usd: 0.06 };

test('without a bill every measure is null and coverage unavailable', () => {
  expect(podUsage({ bill: null, seconds: 90, slots: 1, claims: 1 })).toEqual({
    observed_pod_seconds: null,
    billed_pod_seconds: null,
    estimated_compute_usd: null,
    estimate_coverage: 'unavailable',
  });
});

test('a single attempt, seen completely, is observed', () => {
  expect(podUsage({ bill: BILL, seconds: 90, slots: 1, claims: 1 })).toEqual({
    observed_pod_seconds: 90,
    billed_pod_seconds: 120,
    estimated_compute_usd: 0.06,
    estimate_coverage: 'observed',
  });
});

test('jobs that share a pod share its bill', () => {
  const usage = podUsage({ bill: BILL, seconds: 90, slots: 3, claims: 1 });
  expect(usage).toMatchObject({
    observed_pod_seconds: 30,
    billed_pod_seconds: 40,
    estimated_compute_usd: 0.02,
  });
});

test('an earlier attempt that died unmeasured makes the estimate partial', () => {
  expect(podUsage({ bill: BILL, seconds: 90, slots: 1, claims: 2 }).estimate_coverage).toBe('partial');
});

test('a second or two that the provider’s sampling missed still count as observed', () => {
  expect(podUsage({ bill: BILL, seconds: 92, slots: 1, claims: 1 }).estimate_coverage).toBe('observed');
});

test('a window that the provider saw only partly makes the estimate partial', () => {
  expect(podUsage({ bill: BILL, seconds: 150, slots: 1, claims: 1 }).estimate_coverage).toBe('partial');
});

test('a fixed price charges every begun increment', async () => {
  const cost = fixedPrice({ usdPerHour: 3.6, incrementSeconds: 60 });
  const bill = await cost.bill(new Date('2026-01-01T00:00:00Z'), new Date('2026-01-01T00:01:01Z'));
  expect(bill).toEqual({ observedSeconds: 61, billedSeconds: 120, usd: 0.12 });
});
