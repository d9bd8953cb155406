import { createMetrics } from '@lipsync/telemetry';
import { parseExposition } from '@lipsync/testkit';
import { renderResult } from '../test/scripted-host';
import { createSlotTime, renderTimes } from './slot-time';

let nowMs = 0;
beforeEach(() => {
  nowMs = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => nowMs);
});
afterEach(() => jest.restoreAllMocks());

test('the seconds of all slots are counted, idle ones at every scrape and those of a job at its end', async () => {
  const metrics = createMetrics();
  const slots = createSlotTime(metrics, 2);
  const told = async (doing: string) =>
    parseExposition(await metrics.text()).value('lipsync_slot_seconds_total', { doing });
  nowMs = 10_000;
  const job = slots.begin();
  nowMs = 15_000;
  expect(await told('idle')).toBe(25);
  job.spent({ files: 1000 }, { graphs: 2500, encoder: 500 });
  job.end();
  nowMs = 16_000;
  expect(await told('idle')).toBe(27);
  const busy = ['files', 'graphs', 'encoder', 'other'].map(told);
  expect(await Promise.all(busy)).toEqual([1, 2.5, 0.5, 1]);
});

test('a render spends on its processor what graphs beside the card took there', () => {
  const { timings } = renderResult();
  const wall = {
    graphs: 900,
    handover: 10,
    other: 1,
    decode: 20,
    encode: 30,
    finish: 4,
    analyze: 5,
    load: 6,
  };
  const spent = renderTimes(renderResult({ gpuInferenceMs: 800, timings: { ...timings, wall } }));
  expect(spent).toEqual({
    graphs: 800,
    processor: 111,
    decoder: 20,
    encoder: 34,
    analysis: 5,
    loading: 6,
  });
});
