import { type Storage } from '@lipsync/storage';

const TYPE = 'video/mp4';
const EXPIRES_SECONDS = 300;
const TIMEOUT_MS = 15_000;
/** A page reads which part of a download it got, and of which version; the length is always readable. */
const READ = ['content-range', 'etag'];

/**
 * Asks the store as the browser of a page does, and returns what the page could not do. The first two are preflights,
 * for which nothing has to be there; with the key of an object, its download is tried too.
 */
export async function whatBrowsersLack(storage: Storage, origin: string, key?: string): Promise<string[]> {
  const put = { contentType: TYPE, contentLength: 1, expiresSeconds: EXPIRES_SECONDS };
  const upload = (await storage.presignPut('uploads/browser', put)).url;
  const get = { filename: 'check.mp4', contentType: TYPE, expiresSeconds: EXPIRES_SECONDS };
  const download = (await storage.presignGet(key ?? 'uploads/browser', get)).url;
  const lacks = [
    ...((await mayAsk(upload, origin, 'PUT', 'content-type')) ? [] : ['upload']),
    ...((await mayAsk(download, origin, 'GET', 'range')) ? [] : ['download in parts']),
  ];
  if (key === undefined || lacks.length > 0) return lacks;
  const answer = await fetch(download, { headers: { origin, range: 'bytes=0-0' }, ...limits() });
  await answer.body?.cancel();
  const exposed = listOf(answer.headers, 'access-control-expose-headers');
  return READ.filter((name) => !exposed.includes(name)).map((name) => `read ${name}`);
}

/** The rules by which a browser judges the answer: https://fetch.spec.whatwg.org/#cors-preflight-fetch. */
async function mayAsk(url: string, origin: string, method: string, header: string): Promise<boolean> {
  const asks = { 'access-control-request-method': method, 'access-control-request-headers': header };
  const { ok, headers } = await fetch(url, { method: 'OPTIONS', headers: { origin, ...asks }, ...limits() });
  const allowed = headers.get('access-control-allow-origin');
  const names = (field: string, name: string): boolean =>
    listOf(headers, field).some((each) => each === '*' || each === name);
  return (
    ok &&
    (allowed === origin || allowed === '*') &&
    (method === 'GET' || names('access-control-allow-methods', method.toLowerCase())) &&
    names('access-control-allow-headers', header)
  );
}

const limits = (): RequestInit => ({ redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });

const listOf = (headers: Headers, name: string): string[] =>
  (headers.get(name) ?? '').split(',').map((item) => item.trim().toLowerCase());
