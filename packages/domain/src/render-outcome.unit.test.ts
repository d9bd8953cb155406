import { renderError, renderOutcome } from './render-outcome';

const completed = { status: 'completed', errorCode: null } as const;
const noFace = { status: 'failed', errorCode: 'no_face_detected' } as const;
const lost = { status: 'failed', errorCode: 'worker_lost' } as const;

describe('what becomes of a render', () => {
  it('is undecided while an engine works', () => {
    expect(renderOutcome([completed, { status: 'processing', errorCode: null }])).toBeNull();
    expect(renderOutcome([{ status: 'accepted', errorCode: null }])).toBeNull();
  });

  it('is completed as soon as one engine completed, because the customer can use that', () => {
    expect(renderOutcome([noFace, completed, lost])).toEqual({ status: 'completed' });
  });

  it('is failed with the code of the only engine, or with the one that all agree on', () => {
    expect(renderOutcome([noFace])).toEqual({ status: 'failed', errorCode: 'no_face_detected' });
    expect(renderOutcome([noFace, noFace])).toEqual({ status: 'failed', errorCode: 'no_face_detected' });
  });

  it('is failed with all_engines_failed when they failed differently', () => {
    expect(renderOutcome([noFace, lost])).toEqual({ status: 'failed', errorCode: 'all_engines_failed' });
  });
});

describe('the error of a failed render', () => {
  it('is retryable as soon as one of the engines that failed differently is', () => {
    expect(renderError('all_engines_failed', ['no_face_detected', 'worker_lost']).retryable).toBe(true);
    expect(renderError('all_engines_failed', ['no_face_detected', 'media_corrupt']).retryable).toBe(false);
  });

  it('is otherwise that of the catalogue', () => {
    expect(renderError('worker_lost', ['no_face_detected'])).toMatchObject({
      code: 'worker_lost',
      retryable: true,
    });
  });
});
