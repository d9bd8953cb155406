import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Hub, HubRefusal, refusal, request } from './hub';
import { type PublishedFile } from './published';

export interface Download {
  readonly hub: Hub;
  readonly file: PublishedFile;
  readonly url: string;
  /** Known, or stated by the hub. */
  readonly bytes: number | null;
  /** The finished file; until then it is `<target>.part`. */
  readonly target: string;
  readonly onProgress: (received: number) => void;
  /** First pause after a failure that may pass; it doubles. */
  readonly pauseMs: number;
}

/** Failures in a row without a byte between them. */
const FAILURES_MAX = 5;

/**
 * Downloads a file to `<target>.part`, and continues one that was interrupted, now or in an earlier process. Only a
 * part of the same version is continued: its entity tag lies beside it. Rejects with HubRefusal; what was received
 * stays.
 */
export async function downloadPart(download: Download): Promise<string> {
  const { bytes, target, pauseMs } = download;
  const part = `${target}.part`;
  await mkdir(path.dirname(part), { recursive: true });
  let failures = 0;
  for (;;) {
    const before = await sizeOf(part);
    if (bytes !== null && before === bytes) return part;
    try {
      await receive(download, part, before);
      const received = await sizeOf(part);
      if (bytes === null || received === bytes) return part;
      if (received > bytes) {
        await discard(part);
        throw new HubRefusal(`${download.url} has more than the ${bytes} bytes that it should have`, false);
      }
    } catch (error) {
      const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
      if (code === 'ENOSPC')
        throw new Error(
          `${part}: the disk is full. What was received stays; the next call goes on from there`,
          {
            cause: error,
          },
        );
      if (!mayPass(error)) throw error;
      failures = (await sizeOf(part)) > before ? 0 : failures + 1;
      if (failures === FAILURES_MAX) throw givenUp(download, error);
      await pause(pauseMs * 2 ** failures);
    }
  }
}

/** The part is complete and verified. */
export async function finish(part: string, target: string): Promise<void> {
  await rename(part, target);
  await rm(tagFile(part), { force: true });
}

/** Forgets what was received. */
export async function discard(part: string): Promise<void> {
  for (const file of [part, tagFile(part)]) await rm(file, { force: true });
}

const tagFile = (part: string): string => `${part}.etag`;

async function receive({ hub, file, url, onProgress }: Download, part: string, have: number): Promise<void> {
  const tag = have > 0 ? await readFile(tagFile(part), 'utf8').catch(() => '') : '';
  // Without If-Range, bytes of another version might be appended.
  const range = tag === '' ? {} : { range: `bytes=${have}-`, 'if-range': tag };
  const response = await request(hub, file, url, { headers: range });
  const { body, headers, status } = response;
  const continues = status === 206 && headers.get('content-range')?.startsWith(`bytes ${have}-`) === true;
  if (status === 416 || (status === 206 && !continues)) {
    await response.body?.cancel();
    await discard(part);
    throw new HubRefusal(`${url} does not continue where it was interrupted`, true);
  }
  if (!response.ok || body === null) throw refusal(hub, file, response);
  const strong = headers.get('etag')?.startsWith('"') === true ? headers.get('etag') : null;
  await writeFile(tagFile(part), strong ?? '');
  let received = continues ? have : 0;
  const disk = await open(part, continues ? 'a' : 'w');
  try {
    const chunks: AsyncIterable<Uint8Array> = body;
    for await (const chunk of chunks) {
      await disk.appendFile(chunk);
      received += chunk.length;
      onProgress(received);
    }
  } finally {
    await disk.close();
  }
}

/** A connection that breaks, and an answer that may be another one later. Not the disk, whose errors name a call. */
function mayPass(error: unknown): boolean {
  if (error instanceof HubRefusal) return error.passing;
  return !(typeof error === 'object' && error !== null && 'syscall' in error);
}

function givenUp({ url }: Download, error: unknown): unknown {
  if (error instanceof HubRefusal) return error;
  const message = `${url} breaks off. What was received stays; the next call goes on from there`;
  return new HubRefusal(message, true, { cause: error });
}

export async function sizeOf(file: string): Promise<number> {
  const found = await stat(file).catch(() => null);
  return found?.size ?? 0;
}
