import { fixedPrice } from './fixed-price';
import { podUsage } from './pod-usage';

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
