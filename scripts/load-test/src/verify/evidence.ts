import { type RecordResource } from '@lipsync/contract';
import { type WebhookSink } from '../target/load-target';
import { type Ledger, type TrackedRender } from '../track/ledger';
import { type AnswerCounts } from '../track/outcome';

/** Everything that the checks examine: observations during the run, and final states fetched at its end. */
export interface Evidence {
  readonly renders: readonly TrackedRender[];
  /** Every response of the run, whether or not it counts in a figure. */
  readonly requests: {
    /** From the first arrival of the warm-up until the last caller was served. */
    readonly ofCallers: AnswerCounts;
    /** During preparation, drain and verification. */
    readonly beforeAndAfter: AnswerCounts;
  };
  readonly replays: Ledger['replays'];
  /** Creates whose response was lost, and those of them that a replay could not settle either. */
  readonly lostAnswers: { readonly count: number; readonly unsettled: readonly string[] };
  /** Null when there was no receiver. */
  readonly webhooks: WebhookSink | null;
  /** Renders as get_render showed them at the very end; null when it did not return one. */
  readonly rechecked: readonly { readonly id: string; readonly record: RecordResource | null }[];
  /** As get_webhook reported them; a status of null when it did not answer. */
  readonly deliveries: readonly {
    readonly eventId: string;
    readonly status: string | null;
    readonly attempts: number;
  }[];
  /** The problem is null when the output was downloaded and is a video. */
  readonly outputs: readonly {
    readonly renderId: string;
    readonly engine: string;
    readonly problem: string | null;
    /** What a second implementation of C2PA says of them; null when there is no video to look at. */
    readonly credentials: 'verified' | 'none' | { readonly problems: readonly string[] } | null;
  }[];
  /** A status of null when get_asset did not answer. */
  readonly uploads: readonly { readonly assetId: string; readonly status: string | null }[];
  readonly maxFailures: number;
  readonly drain: number;
}
