import { type ErrorCount } from '../measure/recorder';
import { type Check } from './check';

const said = ({ operation, outcome: { status, code }, count }: ErrorCount): string =>
  `${count} × ${operation}: ${[status, code].filter((part) => part !== null).join(' ')}`;

/** About answers as such. */
export const REQUEST_CHECKS: readonly Check[] = [
  {
    id: 'answers_in_contract',
    title: 'Every answer is one that the contract knows',
    examine: ({ requests: { total, errors } }) => ({
      examined: total,
      failures: errors.filter(({ outcome }) => outcome.class === 'out_of_contract').map(said),
    }),
  },
  {
    id: 'requests_succeed',
    title: 'Requests do not fail (refusals by a limit are counted apart)',
    examine: ({ requests: { total, failed, errors }, maxFailureRatio }) => ({
      examined: total,
      // One line per kind, so that the examples name every kind; what counts is the number.
      failures:
        failed > total * maxFailureRatio
          ? errors.filter(({ outcome }) => !['limited', 'expected'].includes(outcome.class)).map(said)
          : [],
      note: `${failed} of ${total} failed; ${percent(maxFailureRatio)} are tolerated.`,
    }),
  },
  {
    id: 'replays_same_render',
    title: 'Each replay of a create is answered with the same render, and marked as a replay',
    examine: ({ replays: { count, unmarked, mismatches } }) => ({
      examined: count,
      failures: [
        ...mismatches.map(
          ({ idempotencyKey, expectedId, gotId }) => `${idempotencyKey}: ${expectedId}, then ${gotId}`,
        ),
        ...(unmarked === 0 ? [] : [`${unmarked} without Idempotent-Replayed`]),
      ],
    }),
  },
  {
    id: 'lost_answers_settled',
    title: 'Each create whose answer was lost is settled by a replay',
    examine: ({ lostAnswers: { count, unsettled } }) => ({ examined: count, failures: unsettled }),
  },
  {
    id: 'uploads_ready',
    title: 'Each completed upload becomes a ready asset',
    examine: ({ uploads }) => ({
      examined: uploads.length,
      failures: uploads
        .filter(({ status }) => status !== 'ready')
        .map(({ assetId, status }) => `${assetId}: ${status ?? 'no answer'}`),
    }),
  },
];

function percent(ratio: number): string {
  return `${Number((ratio * 100).toPrecision(3))} %`;
}
