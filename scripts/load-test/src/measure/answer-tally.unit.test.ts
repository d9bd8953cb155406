import { createAnswerTally, type Outcome, transportOutcome } from '../track/outcome';

const SUCCESS: Outcome = { class: 'success', status: 200, code: null, retryable: null };
const LIMITED: Outcome = { class: 'limited', status: 429, code: 'rate_limit_exceeded', retryable: true };

describe('createAnswerTally', () => {
  it('counts every response, and the errors by kind, the most frequent first', () => {
    const tally = createAnswerTally();
    const lost = transportOutcome('ECONNRESET');
    for (const outcome of [SUCCESS, lost, LIMITED, LIMITED])
      tally.request({ operation: 'get_render', outcome });
    tally.request({ operation: 'create_render', outcome: lost });
    expect(tally.counts()).toEqual({
      total: 5,
      // An enforced limit is not a failure.
      failed: 2,
      errors: [
        { operation: 'get_render', outcome: LIMITED, count: 2 },
        { operation: 'get_render', outcome: lost, count: 1 },
        { operation: 'create_render', outcome: lost, count: 1 },
      ],
    });
  });
});
