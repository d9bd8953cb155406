import { type IngestWork } from '@lipsync/db';
import { type Binaries } from '@lipsync/media';
import { type Egress } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type ClaimedJob } from '@lipsync/worker';

/** What every ingest of this process shares. */
export interface IngestTools {
  readonly storage: Pick<Storage, 'put' | 'getToFile' | 'copy' | 'delete' | 'list' | 'ping'>;
  readonly egress: Pick<Egress, 'download'>;
  readonly binaries: Binaries;
  readonly downloadTimeoutMs: number;
  readonly probeTimeoutMs: number;
}

/** One claimed ingest. */
export interface IngestContext extends Pick<ClaimedJob, 'folder' | 'signal' | 'report' | 'span'> {
  readonly work: IngestWork;
  /** Where the accepted bytes will lie: new for every claim. */
  readonly objectKey: string;
}

/** The bytes of an asset on this machine. */
export interface FetchedMedia {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** Whether they already lie under the context's object key. */
  readonly stored: boolean;
}
