import { createRecorder } from '../track/recorder';
import { type TrackedRender } from '../track/tracked-render';
import { seriesOf } from './figures';

const SECONDS = 2;

const newRecorder = () =>
  createRecorder({
    ...{ startAt: 0, warmUpMs: 0, sliceMs: 1_000, slices: SECONDS },
    ...{ halfAt: SECONDS * 500, arrivalsEndAt: () => SECONDS * 1_000 },
  });
const RUN = {
  recorder: newRecorder(),
  config: { warmUpSeconds: 0 },
  startAt: 0,
  sliceMs: 1_000,
  arrivalsEndAt: SECONDS * 1_000,
  clockOffsetMs: 0,
};
const endedAs = (status: 'completed' | 'failed'): TrackedRender => ({
  id: status,
  customer: 0,
  purpose: 'result',
  engines: 1,
  acceptedAfterMs: 0,
  acceptedAt: 0,
  isWarmUp: false,
  announcedTo: null,
  createdAt: 0,
  status,
  progress: 100,
  seenAt: 0,
  started: null,
  end: {
    status,
    completedAt: performance.timeOrigin + 1_500,
    errorCode: null,
    webhookEventId: null,
    outputSeconds: 0,
    processingMs: 0,
  },
  flaws: [],
});

describe('seriesOf', () => {
  it('reports no percentile of a slice with too few requests beyond it, but its maximum', () => {
    const recorder = newRecorder();
    const request = (intendedAt: number, latencyMs: number): void =>
      recorder.request({
        operation: 'get_render',
        intendedAt,
        sentAt: intendedAt,
        answeredAt: intendedAt + latencyMs,
        outcome: { class: 'success', status: 200, code: null, retryable: null },
      });
    for (let i = 0; i < 99; i++) request(0, i === 0 ? 700 : 10);
    for (let i = 0; i < 100; i++) request(1_000, i < 2 ? 700 : 10);
    const { slices } = seriesOf({ ...RUN, recorder }, []);
    expect(slices.map(({ latency_ms }) => latency_ms['get_render'])).toMatchObject([
      { count: 99, p99: null, max: 700 },
      { count: 100, p99: expect.closeTo(700, -1) as number, max: 700 },
    ]);
  });

  it('counts a failed render as no longer open, but not as completed', () => {
    const { slices } = seriesOf(RUN, [endedAs('completed'), endedAs('failed')]);
    expect(slices).toMatchObject([
      { open_renders: 2, renders_completed: 0 },
      { open_renders: 0, renders_completed: 1 },
    ]);
  });
});
