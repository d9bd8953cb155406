import { progressLine } from './run-load-test';
import { createRecorder } from './track/recorder';

it('tells the delay of the harness from that of the webhooks', () => {
  const recorder = createRecorder({
    ...{ startAt: 0, warmUpMs: 0, sliceMs: 1_000, slices: 10 },
    ...{ halfAt: 5_000, arrivalsEndAt: () => 10_000 },
  });
  recorder.sent('control-plane', 100, 2);
  const event = { createdAt: 1_000, firstAt: 35_500 };
  const line = progressLine({ recorder, openRenders: 3, inFlight: 1, events: [event], clockOffsetMs: -500 });
  expect(line).toContain('harness late by 2 ms (p99)');
  expect(line).toContain('webhooks after 34 s (p99)');
});
