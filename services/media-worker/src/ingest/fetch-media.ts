import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { type IngestWork } from '@lipsync/db';
import { CONTENT_TYPES, MEDIA_MAX_BYTES, parseMediaType, type UploadRow } from '@lipsync/domain';
import { type Download, type Egress, EgressError } from '@lipsync/runtime';
import { type Storage, StorageError } from '@lipsync/storage';
import { type ClaimedJob } from '@lipsync/worker';
import {
  downloadFailureCode,
  downloadFailureDetail,
  type DownloadSeconds,
  IngestFailure,
} from './ingest-failure';

export interface FetchDeps {
  readonly storage: Pick<Storage, 'getToFile' | 'copy' | 'ping'>;
  readonly egress: Pick<Egress, 'download'>;
  readonly downloadSeconds: DownloadSeconds;
}

/** One claimed ingest. */
export interface Ingest extends Pick<ClaimedJob, 'folder' | 'signal' | 'report' | 'span'> {
  readonly work: IngestWork;
  /** Key that the accepted bytes will be stored under: new for every claim. */
  readonly objectKey: string;
}

/** The bytes of an asset on local disk. */
interface FetchedMedia {
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
  readonly contentType: string;
  /** Whether the bytes are already stored under the ingest's object key. */
  readonly stored: boolean;
}

/** Brings the bytes of an asset into the job's folder. Throws IngestFailure, StorageError. */
export async function fetchMedia(deps: FetchDeps, job: Ingest): Promise<FetchedMedia> {
  const { asset, upload } = job.work;
  // While the store is unavailable, nothing is downloaded: the origin must not be made to send the file again and
  // again, and the job is not charged an attempt.
  await deps.storage.ping({ signal: job.signal });
  if (asset.sourceUrl !== null) return fetchFromUrl(deps, job, asset.sourceUrl);
  if (upload === null) throw new Error('the asset has neither a URL nor an upload');
  return takeUpload(deps, job, upload);
}

const MAX_REDIRECTS = 3;
const HTML_TYPES: ReadonlySet<string | null> = new Set(['text/html', 'application/xhtml+xml']);

/** Downloads a customer's URL into the job's folder. Throws IngestFailure. */
async function fetchFromUrl(deps: FetchDeps, job: Ingest, url: string): Promise<FetchedMedia> {
  const path = join(job.folder, 'media');
  const { bytes, sha256, contentType } = await download(deps, job, url, path);
  // A login or error page with status 200 is not a broken video: the URL is the problem.
  if (HTML_TYPES.has(contentType) || (await startsLikeHtml(path))) {
    throw new IngestFailure('media_not_accessible', 'the URL leads to a web page');
  }
  const known =
    contentType !== null && CONTENT_TYPES[parseMediaType(job.work.asset.mediaType)].includes(contentType);
  return {
    path,
    sha256,
    sizeBytes: bytes,
    stored: false,
    contentType: known ? contentType : 'application/octet-stream',
  };
}

async function download(
  deps: FetchDeps,
  { signal, report }: Ingest,
  url: string,
  path: string,
): Promise<Download> {
  try {
    return await deps.egress.download(url, {
      to: createWriteStream(path),
      maxBytes: MEDIA_MAX_BYTES,
      deadlineMs: deps.downloadSeconds.total * 1000,
      firstByteMs: deps.downloadSeconds.firstByte * 1000,
      maxRedirects: MAX_REDIRECTS,
      signal,
      onProgress: (received, total) => report('downloading', (100 * received) / (total ?? MEDIA_MAX_BYTES)),
    });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const detail = downloadFailureDetail(error, deps.downloadSeconds);
    throw new IngestFailure(downloadFailureCode(error), error.message, { detail, cause: error });
  }
}

async function startsLikeHtml(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const head = Buffer.alloc(512);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    return /^\s*(<!doctype\s+html|<html[\s>])/i.test(
      head.toString('latin1', 0, bytesRead).replace(/^\u00ef\u00bb\u00bf/, ''),
    );
  } finally {
    await handle.close();
  }
}

/**
 * Copies the bytes that an upload was completed with to a key that no signed URL can write to, then downloads that
 * copy, so that the bytes examined are the bytes used. Throws IngestFailure, StorageError.
 */
async function takeUpload(
  { storage }: FetchDeps,
  { folder, objectKey, signal, report }: Ingest,
  upload: UploadRow,
): Promise<FetchedMedia> {
  if (upload.etag === null) throw new Error('the upload was never completed');
  report('verifying', 0);
  try {
    await storage.copy(upload.stagingKey, objectKey, { ifMatch: upload.etag, signal });
  } catch (error) {
    if (!(error instanceof StorageError) || error.kind !== 'precondition_failed') throw error;
    throw new IngestFailure('upload_changed', error.message, { cause: error });
  }
  const path = join(folder, 'media');
  await storage.getToFile(objectKey, path, { signal });
  const { size } = await stat(path);
  if (size !== upload.sizeBytes)
    throw new IngestFailure('storage_failed', 'the stored size is not the declared one');
  return {
    path,
    sizeBytes: size,
    contentType: upload.contentType,
    sha256: await digestOf(path),
    stored: true,
  };
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
