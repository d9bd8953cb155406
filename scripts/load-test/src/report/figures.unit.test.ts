import { endedRender, trackedRender } from '../test/observations';
import { renderFigures } from './figures';

const completed = (createdAt: number, startedAt: number, completedAt: number) =>
  endedRender(
    { completedAt, outputSeconds: 4, processingMs: completedAt - startedAt },
    { createdAt, acceptedAfterMs: 100, started: { at: startedAt, from: 'record' } },
  );
const NONE_OPEN = { atHalf: 0, atEnd: 0 };
const about = (value: number) => expect.closeTo(value, -2) as number;

describe('renderFigures', () => {
  it('measures the queue from creation to start, and the total from the arrival of the caller', () => {
    const renders = [completed(0, 1_000, 3_000), completed(1_000, 3_000, 7_200)];
    expect(renderFigures(renders, NONE_OPEN)).toMatchObject({
      accepted: 2,
      ended: { completed: 2 },
      queue_to_start_ms: { count: 2, p50: about(1_000), max: about(2_000) },
      end_to_end_ms: { p50: about(3_100), max: about(6_300) },
      completed_per_hour: 1_000,
      output_seconds: 8,
      work_per_output_second: 0.775,
      start_from: { record: 2, poll: 0 },
    });
  });

  it('counts what did not complete by how it ended and why', () => {
    const failed = endedRender({ status: 'failed', errorCode: 'engine_failed' });
    expect(renderFigures([trackedRender(), failed], NONE_OPEN)).toMatchObject({
      ended: { open: 1, failed: 1 },
      error_codes: { engine_failed: 1 },
      end_to_end_ms: null,
    });
  });
});
