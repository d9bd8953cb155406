import { type ErrorCode } from '@lipsync/contract';
import { renderError, renderOutcome } from './render-outcome';
import { errorBody } from './service-error';

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
