import { type Engine, type SyncMode } from '@lipsync/contract';
import { type Random } from '@lipsync/scripts';
import { type JourneyName, type StreamConfig } from '../config';
import { type Customer } from '../customer';
import { type MediaFile } from '../media-file';
import { type Ledger } from '../renders/ledger';
import { type ReceiverBehaviour } from '../webhooks/behaviour';

export interface Announcement {
  readonly url: string;
  readonly behaviour: ReceiverBehaviour;
}

/** What every journey of a run shares. */
export interface JourneyContext {
  readonly customers: readonly Customer[];
  readonly ledger: Ledger;
  readonly engines: readonly (readonly Engine[])[];
  readonly syncModes: readonly SyncMode[];
  readonly media: 'once' | 'per-render';
  readonly video: MediaFile;
  readonly audio: MediaFile;
  /** The URL of a receiver for an event of this customer; null when there is no receiver. */
  readonly announce: ((customer: number, random: Random) => Announcement) | null;
  readonly isWarmUp: (intendedAt: number) => boolean;
  /** A unique key for a create. */
  readonly newKey: () => string;
  /** Called with an asset whose upload was completed, to be checked at the end. */
  readonly onUploaded: (customer: Customer, assetId: string) => void;
}

export interface Traveller {
  readonly customer: Customer;
  readonly stream: StreamConfig;
  readonly intendedAt: number;
  readonly random: Random;
}

/** Everything that one caller does. True when it achieved its purpose. */
export type Journey = (context: JourneyContext, traveller: Traveller) => Promise<boolean>;
export type Journeys = Readonly<Record<JourneyName, Journey>>;
