import { createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { CONTENT_TYPES, MEDIA_MAX_BYTES, parseMediaType } from '@lipsync/domain';
import { type Download, EgressError } from '@lipsync/runtime';
import { downloadFailureCode, downloadFailureDetail } from './download-failure';
import { type FetchedMedia, type IngestContext, type IngestTools } from './ingest-context';
import { IngestFailure } from './ingest-failure';

const MAX_REDIRECTS = 3;
const HTML_TYPES: ReadonlySet<string | null> = new Set(['text/html', 'application/xhtml+xml']);

/** Downloads a customer's URL into the job's folder. Throws IngestFailure. */
export async function fetchFromUrl(
  tools: IngestTools,
  context: IngestContext,
  url: string,
): Promise<FetchedMedia> {
  const path = join(context.folder, 'media');
  const { bytes, sha256, contentType } = await download(tools, context, url, path);
  // A login or error page with status 200 is not a broken video: the URL is the problem.
  if (HTML_TYPES.has(contentType) || (await startsLikeHtml(path))) {
    throw new IngestFailure('media_not_accessible', 'the address leads to a web page');
  }
  const known =
    contentType !== null && CONTENT_TYPES[parseMediaType(context.work.asset.mediaType)].includes(contentType);
  return {
    ...{ path, sha256, sizeBytes: bytes, stored: false },
    contentType: known ? contentType : 'application/octet-stream',
  };
}

async function download(
  tools: IngestTools,
  { signal, report }: IngestContext,
  url: string,
  path: string,
): Promise<Download> {
  try {
    return await tools.egress.download(url, {
      to: createWriteStream(path),
      maxBytes: MEDIA_MAX_BYTES,
      deadlineMs: tools.downloadSeconds.total * 1000,
      firstByteMs: tools.downloadSeconds.firstByte * 1000,
      maxRedirects: MAX_REDIRECTS,
      signal,
      onProgress: (received, total) => report('downloading', (100 * received) / (total ?? MEDIA_MAX_BYTES)),
    });
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    const detail = downloadFailureDetail(error, tools.downloadSeconds);
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
