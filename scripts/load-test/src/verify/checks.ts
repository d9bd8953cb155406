import { type CheckResult } from '../report/report';
import { percent, whole } from '../report/summary';
import { type WebhookSink } from '../target/load-target';
import { type LoggedEvent } from '../target/receiver';
import { type RenderFlaw, type TrackedRender } from '../track/ledger';
import { type AnswerCounts, type ErrorCount, FAILURE_CLASSES } from '../track/outcome';
import { type Check, type Examined, runCheck } from './check';
import { type Evidence } from './evidence';

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
      const { total, errors } = together(requests);
      const strange = errors.filter(({ outcome }) => outcome.class === 'out_of_contract');
      return {
        examined: total,
        failures: strange.map(said),
        count: strange.reduce((all, { count }) => all + count, 0),
        note: EVERY_ANSWER,
      };
    },
  },
  {
    id: 'requests_succeed',
    title: 'Requests do not fail (refusals by a limit are counted apart)',
    examine: ({ requests, maxFailures }) => {
      const { total, failed, errors } = together(requests);
      // Many successful polls in a long drain must not make up for failed callers, nor vice versa.
      const isTolerable = [requests.ofCallers, requests.beforeAndAfter].every(
        (part) => part.failed <= Math.floor(part.total * maxFailures),
      );
      return {
        examined: total,
        failures: errors.filter(({ outcome }) => FAILURE_CLASSES.has(outcome.class)).map(said),
        count: failed,
        tolerated: isTolerable ? failed : 0,
        note: `${percent(maxFailures)} are tolerated, of callers’ and of the other requests. ${EVERY_ANSWER}`,
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

function together({ ofCallers, beforeAndAfter }: Evidence['requests']): AnswerCounts {
  return {
    total: ofCallers.total + beforeAndAfter.total,
    failed: ofCallers.failed + beforeAndAfter.failed,
    errors: [...ofCallers.errors, ...beforeAndAfter.errors],
  };
}

/** Checks of every accepted render's life. */
const RENDER_CHECKS: readonly Check[] = [
  {
    id: 'renders_end',
    title: 'Every accepted render ends',
    examine: ({ renders, drain }) => ({
      examined: renders.length,
      failures: renders
        .filter(({ end }) => end === null)
        .map(({ id, status, progress }) => `${id}: still ${status} at ${progress} %`),
      note: `Within ${drain} s after the last arrival.`,
    }),
  },
  {
    id: 'renders_succeed',
    title: 'Renders do not fail',
    examine: ({ renders, maxFailures }) => {
      const ended = renders.filter(({ end }) => end !== null);
      return {
        examined: ended.length,
        failures: ended
          .filter(({ end }) => end?.status === 'failed')
          .map(({ id, end }) => `${id}: ${end?.errorCode ?? 'without an error'}`),
        tolerated: Math.floor(ended.length * maxFailures),
        note: `${percent(maxFailures)} are tolerated.`,
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
  {
    id: 'outputs_verify',
    title: 'Content credentials of outputs verify with a second implementation',
    examine: ({ outputs }) => {
      const videos = outputs.filter(({ credentials }) => credentials !== null);
      const verified = videos.filter(({ credentials }) => credentials === 'verified').length;
      if (videos.length > 0 && videos.every(({ credentials }) => credentials === 'none'))
        return { skipped: 'No output carries content credentials: the service has no certificate.' };
      return {
        examined: videos.length,
        failures: videos.flatMap(({ renderId, engine, credentials }) =>
          credentials === null || credentials === 'verified'
            ? []
            : [`${renderId} ${engine}: ${credentials === 'none' ? 'none' : credentials.problems.join(', ')}`],
        ),
        note: `${whole(verified)} of ${whole(videos.length)} downloaded outputs verified.`,
      };
    },
  },
];

function flawsOf(renders: readonly TrackedRender[], kind: RenderFlaw['kind']): string[] {
  return renders.flatMap(({ id, flaws }) =>
    flaws.filter((flaw) => flaw.kind === kind).map(({ detail }) => `${id}: ${detail}`),
  );
}

function changedAtTheEnd({ renders, rechecked }: Evidence): string[] {
  const ends = new Map(renders.map(({ id, end }) => [id, end?.status]));
  return rechecked.flatMap(({ id, record }) => {
    const end = ends.get(id);
    const status = record?.status;
    return end === undefined || status === end ? [] : [`${id}: ${end} became ${status ?? 'unknown'}`];
  });
}

const NO_RECEIVER: Examined = {
  skipped:
    'No receiver: the service had no public address to send events to, so nothing is known of webhooks.',
};

function withReceiver(
  examine: (events: readonly LoggedEvent[], evidence: Evidence, webhooks: WebhookSink) => Examined,
): Check['examine'] {
  return (evidence) => {
    const { webhooks } = evidence;
    return webhooks === null ? NO_RECEIVER : examine([...webhooks.log.events.values()], evidence, webhooks);
  };
}

/** Checks of what arrived at the receiver. */
const WEBHOOK_CHECKS: readonly Check[] = [
  {
    id: 'webhooks_arrive',
    title: 'Every render that ended has announced it',
    examine: withReceiver((events, { renders }) => {
      const announced = new Set(events.map(({ recordId }) => recordId));
      const due = renders.filter(({ announcedTo, end }) => announcedTo !== null && end !== null);
      return {
        examined: due.length,
        failures: due
          .filter(({ id }) => !announced.has(id))
          .map(({ id, announcedTo }) => `${id}: nothing arrived (receiver: ${announcedTo})`),
      };
    }),
  },
  {
    id: 'webhooks_acknowledged',
    // Refused or hanging attempts have arrived too, so without this check a dispatcher that never retries would pass.
    title: 'Every event that arrived has been acknowledged by its receiver',
    examine: withReceiver((events, { drain }) => ({
      examined: events.length,
      failures: events
        .filter(({ acknowledged }) => !acknowledged)
        .map(
          ({ recordId, id, attempts, behavior }) =>
            `${recordId}: event ${id} is not acknowledged after ${attempts} attempts (receiver: ${behavior})`,
        ),
      note: `What a receiver refuses or leaves hanging at first it takes the next time, if that comes within the ${drain} s of the drain.`,
    })),
  },
  {
    id: 'webhooks_once',
    title: 'Exactly one event announces a render',
    examine: withReceiver((events, { renders }) => {
      const known = new Set(renders.map(({ id }) => id));
      const byRecord = new Map<string, string[]>();
      for (const { recordId, id } of events) byRecord.set(recordId, [...(byRecord.get(recordId) ?? []), id]);
      const redeliveries = events.reduce((sum, event) => sum + event.redeliveries, 0);
      return {
        examined: byRecord.size,
        failures: [...byRecord].flatMap(([recordId, eventIds]) => [
          ...(eventIds.length === 1 ? [] : [`${recordId}: ${eventIds.join(', ')}`]),
          ...(known.has(recordId) ? [] : [`${recordId}: announced, but never accepted`]),
        ]),
        note: `${redeliveries} attempts repeated an event that had been acknowledged, which at-least-once delivery permits.`,
      };
    }),
  },
  {
    id: 'webhooks_signed',
    title: 'Every attempt is signed by the customer’s secret, and carries an event of the contract',
    examine: withReceiver((events, _, { verifiesSignatures, log: { forgedAttempts, malformedAttempts } }) => {
      if (!verifiesSignatures)
        return { skipped: 'No signing secret was given for every customer: signatures were not checked.' };
      const genuine = events.reduce((sum, { attempts }) => sum + attempts, 0);
      return {
        examined: genuine + forgedAttempts + malformedAttempts,
        failures: [
          ...(forgedAttempts === 0 ? [] : [`${forgedAttempts} attempts with a wrong signature`]),
          ...(malformedAttempts === 0 ? [] : [`${malformedAttempts} attempts with a body that is no event`]),
        ],
        count: forgedAttempts + malformedAttempts,
      };
    }),
  },
  {
    id: 'webhooks_agree',
    title: 'An event says what get_render says',
    examine: withReceiver((events, { renders, rechecked }) => {
      const ends = new Map(renders.flatMap(({ id, end }) => (end === null ? [] : [[id, end.status]])));
      const eventIds = new Map(rechecked.map(({ id, record }) => [id, record?.webhook_event_id ?? null]));
      return {
        examined: events.length,
        failures: events.flatMap(({ id, recordId, type, status }) => {
          const end = ends.get(recordId);
          const named = eventIds.get(recordId);
          return [
            ...(end === undefined || (status === end && type === `render.${end}`)
              ? []
              : [`${recordId}: ${type} with status ${status}, but the render is ${end}`]),
            ...(named === undefined || named === id
              ? []
              : [`${recordId}: event ${id}, but get_render names ${named ?? 'none'}`]),
          ];
        }),
      };
    }),
  },
  {
    id: 'webhooks_settled',
    title: 'get_webhook says that what was acknowledged is delivered',
    examine: withReceiver((_, { deliveries }) => ({
      examined: deliveries.length,
      failures: deliveries
        .filter(({ status }) => status !== 'delivered')
        .map(
          ({ eventId, status, attempts }) =>
            `${eventId}: ${status ?? 'no answer'} after ${attempts} attempts`,
        ),
      note: 'A sample of the acknowledged events.',
    })),
  },
];

/** Every check, in the order of the report. */
export const CHECKS = [...REQUEST_CHECKS, ...RENDER_CHECKS, ...WEBHOOK_CHECKS];
