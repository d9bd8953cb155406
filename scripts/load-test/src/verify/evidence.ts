import { type RecordStatus } from '@lipsync/contract';
import { type AnswerCounts } from '../measure/answer-tally';
import { type ReplayMismatch } from '../renders/ledger';
import { type TrackedRender } from '../renders/tracked-render';
import { type LoggedEvent } from '../webhooks/event-log';

/** A render as get_render showed it at the very end. */
export interface RecheckedRender {
  readonly id: string;
  /** Null when get_render did not return it. */
  readonly status: RecordStatus | null;
  readonly webhookEventId: string | null;
}

export interface CheckedDelivery {
  readonly eventId: string;
  /** As get_webhook reported it; null when it did not answer. */
  readonly status: string | null;
  readonly attempts: number;
}

export interface CheckedOutput {
  readonly renderId: string;
  readonly engine: string;
  /** Null when it was downloaded and is a video. */
  readonly problem: string | null;
}

export interface CheckedUpload {
  readonly assetId: string;
  /** Null when get_asset did not answer. */
  readonly status: string | null;
}

export interface WebhookEvidence {
  readonly events: readonly LoggedEvent[];
  readonly verifiesSignatures: boolean;
  readonly forgedAttempts: number;
  readonly malformedAttempts: number;
  readonly deliveries: readonly CheckedDelivery[];
}

/** Everything that the checks examine: observations during the run, and final states fetched at its end. */
export interface Evidence {
  readonly renders: readonly TrackedRender[];
  /** Every response of the run, whether or not it counts in a figure. */
  readonly requests: {
    /** From the first arrival of the warm-up until the last caller was served. */
    readonly ofCallers: AnswerCounts;
    /** Of preparation, drain and verification. */
    readonly beforeAndAfter: AnswerCounts;
  };
  readonly replays: {
    readonly count: number;
    readonly unmarked: number;
    readonly mismatches: readonly ReplayMismatch[];
  };
  /** Creates whose response was lost, and those of them that a replay could not settle either. */
  readonly lostAnswers: { readonly count: number; readonly unsettled: readonly string[] };
  readonly rechecked: readonly RecheckedRender[];
  /** Null when there was no receiver. */
  readonly webhooks: WebhookEvidence | null;
  readonly outputs: readonly CheckedOutput[];
  readonly uploads: readonly CheckedUpload[];
  readonly maxFailureRatio: number;
  readonly drainSeconds: number;
}
