import { type CheckResult } from '../report/report';
import { percent } from '../report/summary';
import { type AnswerCounts, type ErrorCount, FAILURE_CLASSES } from '../track/outcome';
import { type RenderFlaw, type TrackedRender } from '../track/tracked-render';
import { type Check, runCheck } from './check';
import { type Evidence } from './evidence';
import { WEBHOOK_CHECKS } from './webhook-checks';

export function runChecks(evidence: Evidence): CheckResult[] {
  return CHECKS.map((check) => runCheck(check, evidence));
}

const said = ({ operation, outcome: { status, code }, count }: ErrorCount): string =>
  `${count} × ${operation}: ${[status, code].filter((part) => part !== null).join(' ')}`;

const EVERY_ANSWER =
  'Those of preparation, warm-up, drain and verification, which are in no figure, are examined too.';

/** Checks of the responses themselves. */
const REQUEST_CHECKS: readonly Check[] = [
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

/** Checks of every accepted render's life. */
const RENDER_CHECKS: readonly Check[] = [
  {
    id: 'renders_end',
    title: 'Every accepted render ends',
    examine: ({ renders, drainSeconds }) => ({
      examined: renders.length,
      failures: renders
        .filter(({ end }) => end === null)
        .map(({ id, status, progress }) => `${id}: still ${status} at ${progress} %`),
      note: `Within ${drainSeconds} s after the last arrival.`,
    }),
  },
  {
    id: 'renders_succeed',
    title: 'Renders do not fail',
    examine: ({ renders, maxFailureRatio }) => {
      const ended = renders.filter(({ end }) => end !== null);
      return {
        examined: ended.length,
        failures: ended
          .filter(({ end }) => end?.status === 'failed')
          .map(({ id, end }) => `${id}: ${end?.errorCode ?? 'without an error'}`),
        tolerated: Math.floor(ended.length * maxFailureRatio),
        note: `${percent(maxFailureRatio)} are tolerated.`,
      };
    },
  },
  {
    id: 'terminal_states_final',
    title: 'A render that has ended never changes again',
    examine: (evidence) => ({
      examined: evidence.renders.length,
      failures: [...flawsOf(evidence.renders, 'terminal_changed'), ...changedAtTheEnd(evidence)],
      note: `Every answer of the run, and ${evidence.rechecked.length} renders once more at the end.`,
    }),
  },
  {
    id: 'states_move_forward',
    title: 'No render goes back to an earlier state',
    examine: ({ renders }) => ({ examined: renders.length, failures: flawsOf(renders, 'went_backwards') }),
  },
  {
    id: 'progress_monotone',
    title: 'Progress never falls',
    examine: ({ renders }) => ({ examined: renders.length, failures: flawsOf(renders, 'progress_fell') }),
  },
  {
    id: 'outputs_downloadable',
    title: 'Outputs can be downloaded and are videos',
    examine: ({ outputs }) => ({
      examined: outputs.length,
      failures: outputs
        .filter(({ problem }) => problem !== null)
        .map(({ renderId, engine, problem }) => `${renderId} ${engine}: ${problem}`),
      note: 'A sample of the completed renders.',
    }),
  },
];

function flawsOf(renders: readonly TrackedRender[], kind: RenderFlaw['kind']): string[] {
  return renders.flatMap(({ id, flaws }) =>
    flaws.filter((flaw) => flaw.kind === kind).map(({ detail }) => `${id}: ${detail}`),
  );
}

function changedAtTheEnd({ renders, rechecked }: Evidence): string[] {
  const ends = new Map(renders.map(({ id, end }) => [id, end?.status]));
  return rechecked.flatMap(({ id, status }) => {
    const end = ends.get(id);
    return end === undefined || status === end ? [] : [`${id}: ${end} became ${status ?? 'unknown'}`];
  });
}

/** Every check, in the order of the report. */
export const CHECKS = [...REQUEST_CHECKS, ...RENDER_CHECKS, ...WEBHOOK_CHECKS];
