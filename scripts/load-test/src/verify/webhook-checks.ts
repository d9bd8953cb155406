import { type LoggedEvent } from '../target/receiver';
import { type Check, type Findings, type NotApplicable } from './check';
import { type Evidence, type WebhookEvidence } from './evidence';

const NO_RECEIVER: NotApplicable = {
  skipped:
    'No receiver: the service had no public address to send events to, so nothing is known of webhooks.',
};

function withReceiver(
  examine: (webhooks: WebhookEvidence, evidence: Evidence) => Findings | NotApplicable,
): Check['examine'] {
  return (evidence) => (evidence.webhooks === null ? NO_RECEIVER : examine(evidence.webhooks, evidence));
}

/** Checks of what arrived at the receiver. */
export const WEBHOOK_CHECKS: readonly Check[] = [
  {
    id: 'webhooks_arrive',
    title: 'Every render that ended has announced it',
    examine: withReceiver(({ events }, { renders }) => {
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
    examine: withReceiver(({ events }, { drainSeconds }) => ({
      examined: events.length,
      failures: events
        .filter(({ acknowledged }) => !acknowledged)
        .map(
          ({ recordId, id, attempts, behaviour }) =>
            `${recordId}: event ${id} is not acknowledged after ${attempts} attempts (receiver: ${behaviour})`,
        ),
      note: `What a receiver refuses or leaves hanging at first it takes the next time, if that comes within the ${drainSeconds} s of the drain.`,
    })),
  },
  {
    id: 'webhooks_once',
    title: 'Exactly one event announces a render',
    examine: withReceiver(({ events }, { renders }) => {
      const known = new Set(renders.map(({ id }) => id));
      const byRecord = groupByRecord(events);
      const redeliveries = events.reduce((sum, event) => sum + event.redeliveries, 0);
      return {
        examined: byRecord.size,
        failures: [...byRecord].flatMap(([recordId, all]) => [
          ...(all.length === 1 ? [] : [`${recordId}: ${all.map(({ id }) => id).join(', ')}`]),
          ...(known.has(recordId) ? [] : [`${recordId}: announced, but never accepted`]),
        ]),
        note: `${redeliveries} attempts repeated an event that had been acknowledged, which at-least-once delivery permits.`,
      };
    }),
  },
  {
    id: 'webhooks_signed',
    title: 'Every attempt is signed by the customer’s secret, and carries an event of the contract',
    examine: withReceiver(({ events, verifiesSignatures, forgedAttempts, malformedAttempts }) => {
      if (!verifiesSignatures)
        return { skipped: 'No signing secret was given for every customer: signatures were not checked.' };
      return {
        examined: attemptsOf(events) + forgedAttempts + malformedAttempts,
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
    examine: withReceiver(({ events }, { renders, rechecked }) => {
      const ends = new Map(renders.flatMap(({ id, end }) => (end === null ? [] : [[id, end.status]])));
      const eventIds = new Map(rechecked.map(({ id, webhookEventId }) => [id, webhookEventId]));
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
    examine: withReceiver(({ deliveries }) => ({
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

function attemptsOf(events: readonly LoggedEvent[]): number {
  return events.reduce((sum, { attempts }) => sum + attempts, 0);
}

function groupByRecord(events: readonly LoggedEvent[]): Map<string, LoggedEvent[]> {
  const groups = new Map<string, LoggedEvent[]>();
  for (const event of events) {
    const group = groups.get(event.recordId);
    if (group === undefined) groups.set(event.recordId, [event]);
    else group.push(event);
  }
  return groups;
}
