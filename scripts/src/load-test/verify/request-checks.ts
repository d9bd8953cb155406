import { FAILURE_CLASSES } from '../measure/outcome';
import { type ErrorCount } from '../measure/recorder';
import { percent } from '../report/format';
import { type Check } from './check';

const said = ({ operation, outcome: { status, code }, count }: ErrorCount): string =>
  `${count} × ${operation}: ${[status, code].filter((part) => part !== null).join(' ')}`;

/** About answers as such. */
export const REQUEST_CHECKS: readonly Check[] = [
  {
    id: 'answers_in_contract',
    title: 'Every answer is one that the contract knows',
    examine: ({ requests: { total, errors } }) => {
      const strange = errors.filter(({ outcome }) => outcome.class === 'out_of_contract');
      return { examined: total, failures: strange.map(said), count: sum(strange) };
    },
  },
  {
    id: 'requests_succeed',
    title: 'Requests do not fail (refusals by a limit are counted apart)',
    examine: ({ requests: { total, failed, errors }, maxFailureRatio }) => ({
      examined: total,
      failures: errors.filter(({ outcome }) => FAILURE_CLASSES.has(outcome.class)).map(said),
      count: failed,
      tolerated: Math.floor(total * maxFailureRatio),
      note: `${percent(maxFailureRatio)} are tolerated.`,
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

function sum(errors: readonly ErrorCount[]): number {
  return errors.reduce((total, { count }) => total + count, 0);
}
