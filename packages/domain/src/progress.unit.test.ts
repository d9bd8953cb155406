import { type ErrorCode } from '@lipsync/contract';
import fc from 'fast-check';
import { errorBody } from './errors';
import { preparationProgress, renderError, renderOutcome, renderProgress } from './progress';
import { PREPARATION_STAGES, RENDER_STAGES } from './states';

const none = { engines: [] };

describe('the progress of a render', () => {
  it.each([
    [{ stage: 'queued' }, 0],
    [{ stage: 'fetching_inputs' }, 0],
    [{ stage: 'fetching_inputs', fetchFraction: 0.5 }, 4],
    [{ stage: 'fetching_inputs', fetchFraction: 1 }, 8],
    [{ stage: 'validating_inputs' }, 8],
    [{ stage: 'preparing' }, 10],
    [{ stage: 'preparing', prepareFraction: 1 }, 25],
    [{ stage: 'rendering' }, 25],
    [{ stage: 'finalizing' }, 95],
    [{ stage: 'completed' }, 100],
  ] as const)('of %j is %d', (render, expected) => {
    expect(renderProgress({ ...none, ...render })).toBe(expected);
  });

  it('is the mean of the engines while rendering, where one that failed counts as done', () => {
    const rendering = (...engines: Parameters<typeof renderProgress>[0]['engines'][number][]) =>
      renderProgress({ stage: 'rendering', engines });
    expect(rendering({ status: 'processing', progress: 50 })).toBe(60);
    expect(rendering({ status: 'processing', progress: 50 }, { status: 'failed', progress: 10 })).toBe(77.5);
    expect(rendering({ status: 'completed', progress: 100 }, { status: 'accepted', progress: 0 })).toBe(60);
    expect(rendering({ status: 'completed', progress: 100 })).toBe(95);
  });

  it('rises with the stages and is 100 for completed alone, whatever the parts say', () => {
    const parts = fc.record({
      fetchFraction: fc.double(),
      prepareFraction: fc.double(),
      progress: fc.double(),
    });
    fc.assert(
      fc.property(parts, parts, ({ progress, ...earlier }, later) => {
        const work = RENDER_STAGES.slice(0, -3);
        const values = work.map((stage, i) =>
          renderProgress({
            stage,
            ...(i % 2 ? earlier : later),
            engines: [{ status: 'processing', progress }],
          }),
        );
        expect(values).toEqual([...values].sort((a, b) => a - b));
        expect(Math.max(...values)).toBeLessThan(100);
        expect(Math.min(...values)).toBe(0);
      }),
    );
  });
});

describe('the progress of a preparation', () => {
  it('rises with its stages and is 100 for completed alone', () => {
    const work = PREPARATION_STAGES.slice(0, -3);
    expect(work.map((stage) => preparationProgress(stage))).toEqual([0, 0, 8, 10, 95]);
    expect(work.map((stage) => preparationProgress(stage, 1))).toEqual([0, 8, 10, 95, 99]);
    expect(preparationProgress('completed')).toBe(100);
  });

  it('has no more than two decimals', () => {
    expect(preparationProgress('analyzing', 0.42)).toBe(45.7);
    expect(preparationProgress('analyzing', 1 / 3)).toBe(38.33);
  });
});

const completed = { status: 'completed', errorCode: null } as const;
const noFace = { status: 'failed', errorCode: 'no_face_detected' } as const;
const lost = { status: 'failed', errorCode: 'worker_lost' } as const;

describe('the outcome of a render', () => {
  it('is undecided while an engine works', () => {
    expect(renderOutcome([completed, { status: 'processing', errorCode: null }])).toBeNull();
    expect(renderOutcome([{ status: 'accepted', errorCode: null }])).toBeNull();
  });

  it('is completed as soon as one engine completed, because the customer can use that', () => {
    expect(renderOutcome([noFace, completed, lost])).toEqual({ status: 'completed' });
  });

  it('is failed with the code that all engines agree on, or that of the only engine', () => {
    expect(renderOutcome([noFace])).toEqual({ status: 'failed', errorCode: 'no_face_detected' });
    expect(renderOutcome([noFace, noFace])).toEqual({ status: 'failed', errorCode: 'no_face_detected' });
  });

  it('is failed with all_engines_failed when they failed differently', () => {
    expect(renderOutcome([noFace, lost])).toEqual({ status: 'failed', errorCode: 'all_engines_failed' });
  });
});

describe('the error of a failed render', () => {
  const errors = (...codes: readonly ErrorCode[]) => codes.map((code) => errorBody(code));

  it('is retryable if any of the engines that failed differently is', () => {
    expect(renderError('all_engines_failed', errors('no_face_detected', 'worker_lost')).retryable).toBe(true);
    expect(renderError('all_engines_failed', errors('no_face_detected', 'media_corrupt')).retryable).toBe(
      false,
    );
  });

  it('is otherwise the one that its engines agree on', () => {
    const ofInput = errorBody('media_corrupt', '/audio');
    expect(renderError('media_corrupt', [ofInput, ofInput])).toEqual(ofInput);
  });

  it('comes from the catalogue if no engine has it', () => {
    expect(renderError('worker_lost', [])).toEqual(errorBody('worker_lost'));
  });
});
