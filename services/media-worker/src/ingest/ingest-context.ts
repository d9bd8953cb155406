import { type IngestWork } from '@lipsync/db';
import { type Binaries } from '@lipsync/media';
import { type Egress } from '@lipsync/runtime';
import { type Storage } from '@lipsync/storage';
import { type ClaimedJob } from '@lipsync/worker';

/** How long a download may take, and how long it may take until the first byte of the file. */
export interface DownloadSeconds {
  readonly total: number;
  readonly firstByte: number;
}

/** Shared by every ingest of this process. */
export interface IngestTools {
  readonly storage: Pick<Storage, 'put' | 'getToFile' | 'copy' | 'delete' | 'list' | 'ping'>;
  readonly egress: Pick<Egress, 'download'>;
  readonly binaries: Binaries;
  readonly downloadSeconds: DownloadSeconds;
  readonly probeTimeoutMs: number;
}

/** One claimed ingest. */
export interface IngestContext extends Pick<ClaimedJob, 'folder' | 'signal' | 'report' | 'span'> {
  readonly work: IngestWork;
  /** Key that the accepted bytes will be stored under: new for every claim. */
  readonly objectKey: string;
}

/** The bytes of an asset on local disk. */
export interface FetchedMedia {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** Whether the bytes are already stored under the context's object key. */
  readonly stored: boolean;
}
