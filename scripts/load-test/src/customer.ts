import { type ServiceClient } from './client/service-client';
import { type SentCreate } from './renders/ledger';

/** A render that this customer has created, with its request, so that it can be fetched and replayed. */
export interface KnownCreate {
  readonly id: string;
  readonly create: SentCreate;
}

/** The sample media as assets of the customer. */
export interface CustomerMedia {
  readonly videoAssetId: string;
  readonly audioAssetId: string;
}

/** One of the customers that the load comes from. */
export interface Customer {
  readonly index: number;
  readonly client: ServiceClient;
  readonly media: CustomerMedia;
  readonly recent: RecentCreates;
}

export interface RecentCreates {
  add(known: KnownCreate): void;
  readonly all: readonly KnownCreate[];
}

/** Number of recent creates to keep: enough for a run to choose from. */
const MAX_RECENT = 256;

export function createRecentCreates(): RecentCreates {
  const all: KnownCreate[] = [];
  let next = 0;
  return {
    add(known) {
      all[next] = known;
      next = (next + 1) % MAX_RECENT;
    },
    all,
  };
}
