import { type AnswerCounts, type ErrorCount } from '../measure/answer-tally';
import { FAILURE_CLASSES } from '../measure/outcome';
import { percent } from '../report/format';
import { type Check } from './check';
import { type Evidence } from './evidence';

const said = ({ operation, outcome: { status, code }, count }: ErrorCount): string =>
  `${count} × ${operation}: ${[status, code].filter((part) => part !== null).join(' ')}`;

const EVERY_ANSWER =
  'Those of preparation, warm-up, drain and verification, which are in no figure, are examined too.';

/** Checks of the responses themselves. */
export const REQUEST_CHECKS: readonly Check[] = [
  {
    id: 'answers_in_contract',
    title: 'Every answer is one that the contract knows',
    examine: ({ requests }) => {
      const strange = errorsOf(requests).filter(({ outcome }) => outcome.class === 'out_of_contract');
      return {
        examined: totalOf(requests),
        failures: strange.map(said),
        count: sum(strange),
        note: EVERY_ANSWER,
      };
    },
  },
  {
    id: 'requests_succeed',
    title: 'Requests do not fail (refusals by a limit are counted apart)',
    examine: ({ requests, maxFailureRatio }) => {
      const parts = [requests.ofCallers, requests.beforeAndAfter];
      const failed = parts.reduce((all, part) => all + part.failed, 0);
      // Many successful polls in a long drain must not make up for failed callers, nor vice versa.
      const isTolerable = parts.every((part) => part.failed <= Math.floor(part.total * maxFailureRatio));
      return {
        examined: totalOf(requests),
        failures: errorsOf(requests)
          .filter(({ outcome }) => FAILURE_CLASSES.has(outcome.class))
          .map(said),
        count: failed,
        tolerated: isTolerable ? failed : 0,
        note: `${percent(maxFailureRatio)} are tolerated, of callers’ and of the other requests. ${EVERY_ANSWER}`,
      };
    },
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

function totalOf({ ofCallers, beforeAndAfter }: Evidence['requests']): number {
  return ofCallers.total + beforeAndAfter.total;
}

function errorsOf({ ofCallers, beforeAndAfter }: Evidence['requests']): AnswerCounts['errors'] {
  return [...ofCallers.errors, ...beforeAndAfter.errors];
}

function sum(errors: readonly ErrorCount[]): number {
  return errors.reduce((total, { count }) => total + count, 0);
}
