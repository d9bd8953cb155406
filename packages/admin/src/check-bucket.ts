import { randomUUID } from 'node:crypto';
import { type Storage, StorageError } from '@lipsync/storage';
import { whatBrowsersLack } from './browsers';

/** One thing that was tried. `broken`: the service cannot work. `unsafe`: it works, and outsiders can do harm. */
export interface Finding {
  readonly verdict: 'ok' | 'note' | 'broken' | 'unsafe';
  readonly check: string;
  readonly finding: string;
}

type Expected = Omit<Finding, 'check'>;

const ok = (finding: string): Expected => ({ verdict: 'ok', finding });
const note = (finding: string): Expected => ({ verdict: 'note', finding });
const broken = (finding: string): Expected => ({ verdict: 'broken', finding });
const unsafe = (finding: string): Expected => ({ verdict: 'unsafe', finding });

const TYPE = 'video/mp4';
const KEPT = Buffer.from('bytes of the service, which no upload may reach');
const SENT = Buffer.from('bytes of a caller');
const EXPIRES_SECONDS = 300;
const UPLOAD = { contentType: TYPE, contentLength: SENT.length, expiresSeconds: EXPIRES_SECONDS };
const DOWNLOAD = { filename: 'check.mp4', contentType: TYPE, expiresSeconds: EXPIRES_SECONDS };
const TIMEOUT_MS = 15_000;
const NOT_NOW: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
const EVERYBODY = 'uri="http://acs.amazonaws.com/groups/global/AllUsers"';

/**
 * Tries a bucket with objects of its own, which it deletes again: what the service and pages of `origin` do with it,
 * and what somebody could do who holds a signed upload or nothing at all. What counts is the effect, not the status:
 * stores differ in which headers they refuse, ignore or obey.
 */
export async function checkBucket(
  storage: Storage,
  { bucket, origin }: { bucket: string; origin: string },
): Promise<Finding[]> {
  const findings: Finding[] = [];
  const attempt = async (check: string, trial: () => Promise<Expected>): Promise<boolean> => {
    const found = await trial().catch((error: unknown) => broken(reasonOf(error)));
    findings.push({ verdict: found.verdict, check, finding: found.finding });
    return found.verdict !== 'broken';
  };
  const run = `bucket-check-${randomUUID()}`;
  const keys = new Set<string>();
  const keyUnder = (prefix: 'assets' | 'uploads', name: string): string => {
    const key = `${prefix}/${run}/${name}`;
    keys.add(key);
    return key;
  };
  const kept = keyUnder('assets', 'kept');
  try {
    const usable =
      (await attempt('reach', async () => {
        await storage.ping();
        return ok('the bucket can be reached');
      })) && (await attempt('store', () => storeAndRead(storage, kept)));
    if (!usable) return findings;
    await attempt('copy', () => copyUnchanged(storage, kept, keyUnder('assets', 'copy')));
    await attempt('list', () => listAll(storage, `assets/${run}/`, kept));
    await attempt('delete', () => deleteOne(storage, keyUnder('assets', 'copy')));
    await attempt('signed download', () => download(storage, kept));

    const sign = (name: string): Promise<SignedUpload> => signUpload(storage, keyUnder('uploads', name));
    const uploads = await attempt('signed upload', () =>
      uploadAndTake(storage, sign, keyUnder('assets', 'taken')),
    );
    // Refusals say nothing about an endpoint that refuses everything.
    if (!uploads) return findings;
    await attempt('upload of other bytes', () => uploadOtherwise(storage, sign));
    await attempt('upload that copies', () => uploadCopying(storage, sign, `/${bucket}/${kept}`));
    await attempt('upload for everybody', () => uploadPublicly(sign));
    await attempt('upload with other headers', () => uploadTagged(sign));
    await attempt('credentials of uploads', () => compareSigners(storage, kept));
    await attempt('without a signature', () => goUnsigned(storage, kept, keyUnder('uploads', 'unsigned')));
    await attempt('browsers', () => askAsBrowser(storage, origin, kept));
  } finally {
    await attempt('clean up', async () => {
      await storage.delete([...keys]);
      return ok('the objects of this check are deleted');
    });
  }
  return findings;
}

async function storeAndRead(storage: Storage, key: string): Promise<Expected> {
  await storage.put(key, KEPT, { contentType: TYPE });
  const described = await storage.head(key);
  if (!(await storage.getBuffer(key)).equals(KEPT))
    return broken('an object that was read differs from what was stored');
  if (described?.sizeBytes !== KEPT.length || described.contentType !== TYPE)
    return broken('the store reports the wrong size or type of an object');
  return ok('objects are stored, described and read');
}

async function copyUnchanged(storage: Storage, from: string, to: string): Promise<Expected> {
  const etag = (await storage.head(from))?.etag ?? '';
  await storage.copy(from, to, { ifMatch: etag });
  try {
    await storage.copy(from, to, { ifMatch: '"00000000000000000000000000000000"' });
  } catch (error) {
    if (error instanceof StorageError && error.kind === 'precondition_failed')
      return ok('an object is copied only if it has not changed');
    throw error;
  }
  return note(
    'the store ignores x-amz-copy-source-if-match when it copies: until its ingest, a caller can replace a completed upload. What is ingested is checked all the same',
  );
}

async function listAll(storage: Storage, prefix: string, key: string): Promise<Expected> {
  const listed: string[] = [];
  for await (const each of storage.list(prefix)) listed.push(each);
  return listed.includes(key) ? ok('objects are listed') : broken('a listing lacks an object that exists');
}

async function deleteOne(storage: Storage, key: string): Promise<Expected> {
  await storage.delete([key]);
  return (await storage.head(key)) === null
    ? ok('objects are deleted')
    : broken('a deleted object is still there');
}

async function download(storage: Storage, key: string): Promise<Expected> {
  const { url } = await storage.presignGet(key, DOWNLOAD);
  const answer = await request(url);
  if (answer.body !== KEPT.toString()) return broken(`a signed download is answered with ${answer.status}`);
  if ((await request(withOtherSignature(url))).ok)
    return unsafe('the store does not verify the signatures of downloads');
  if (answer.headers.get('content-disposition') !== `attachment; filename="${DOWNLOAD.filename}"`)
    return note('a download does not get the file name of its signed URL, so browsers may display it');
  return ok('signed downloads work, and only those');
}

interface SignedUpload {
  readonly key: string;
  readonly url: string;
  /** Sends bytes as the signature says, but for these changes. */
  send(changes?: { headers?: Record<string, string>; body?: Buffer; url?: string }): Promise<Answer>;
}

async function signUpload(storage: Storage, key: string): Promise<SignedUpload> {
  const { url } = await storage.presignPut(key, UPLOAD);
  const send: SignedUpload['send'] = ({ headers = {}, body = SENT, url: other = url } = {}) =>
    request(other, {
      method: 'PUT',
      headers: { 'content-type': TYPE, ...headers },
      body: new Uint8Array(body),
    });
  return { key, url, send };
}

type Sign = (name: string) => Promise<SignedUpload>;

/** As a caller and the ingest do; also shows that the service may read what the pair of uploads has stored. */
async function uploadAndTake(storage: Storage, sign: Sign, to: string): Promise<Expected> {
  const upload = await sign('plain');
  const answer = await upload.send();
  if (!answer.ok) return broken(`a signed upload is answered with ${answer.status} ${answer.code}`);
  const described = await storage.head(upload.key).catch((error: unknown) => {
    if (error instanceof StorageError && error.kind === 'rejected')
      throw new Error('the service may not read what the key pair of uploads has stored');
    throw error;
  });
  if (described?.contentType !== TYPE) return broken('the store reports the wrong type of an upload');
  await storage.copy(upload.key, to, { ifMatch: described.etag });
  const same = (await storage.getBuffer(to)).equals(SENT);
  return same ? ok('signed uploads work') : broken('an upload that was read differs from what was sent');
}

async function uploadOtherwise(storage: Storage, sign: Sign): Promise<Expected> {
  const length = await sign('length');
  // A store may close the connection while it is being sent more than was signed.
  await length.send({ body: Buffer.concat([SENT, SENT]) }).catch(() => undefined);
  const type = await sign('type');
  await type.send({ headers: { 'content-type': 'text/html' } });
  const signature = await sign('signature');
  await signature.send({ url: withOtherSignature(signature.url) });
  const key = await sign('key');
  await key.send({ url: (await sign('signed-key')).url.replace('signed-key', 'key') });
  const taken: string[] = [];
  for (const [what, upload] of Object.entries({ length, type, signature, key }))
    if ((await storage.head(upload.key)) !== null) taken.push(what);
  if (taken.length === 0) return ok('an upload with another length, type, key or signature is refused');
  return unsafe(`the store accepts uploads with another ${taken.join(', ')} than what was signed`);
}

async function uploadCopying(storage: Storage, sign: Sign, source: string): Promise<Expected> {
  const upload = await sign('copying');
  await upload.send({ headers: { 'x-amz-copy-source': source } });
  const stored = (await storage.head(upload.key)) === null ? undefined : await storage.getBuffer(upload.key);
  if (stored?.equals(KEPT) !== true) return ok('a signed upload cannot copy another object');
  return unsafe(
    'a signed upload with an unsigned x-amz-copy-source copies any object whose key is known. Sign uploads with a key pair that may only put objects under uploads/: S3_UPLOAD_ACCESS_KEY_ID',
  );
}

async function uploadPublicly(sign: Sign): Promise<Expected> {
  const ways = { 'x-amz-acl': 'public-read', 'x-amz-grant-read': EVERYBODY };
  const open: string[] = [];
  for (const [header, value] of Object.entries(ways)) {
    const upload = await sign(header);
    await upload.send({ headers: { [header]: value } });
    if ((await request(unsigned(upload.url))).ok) open.push(header);
  }
  if (open.length === 0) return ok('a signed upload cannot make its object public');
  return unsafe(
    `a signed upload with an unsigned ${open.join(' or ')} makes its object public. Make the bucket ignore public ACLs: aws s3api put-public-access-block, IgnorePublicAcls`,
  );
}

/** Not x-amz-object-lock-…, as nobody could delete what it had locked. */
async function uploadTagged(sign: Sign): Promise<Expected> {
  const answer = await (await sign('tagged')).send({ headers: { 'x-amz-tagging': 'a=b' } });
  if (!answer.ok) return ok('an upload with a header that is not signed is refused');
  return note(
    'the store accepts uploads with unsigned x-amz-… headers. Those tried here affect only the uploaded object',
  );
}

async function compareSigners(storage: Storage, key: string): Promise<Expected> {
  const put = await storage.presignPut(key, UPLOAD);
  const get = await storage.presignGet(key, DOWNLOAD);
  if (signerOf(put.url) !== signerOf(get.url)) return ok('uploads are signed with a key pair of their own');
  return note(
    'uploads are signed with the service’s own key pair, so only the store’s checks limit what a signed upload can do. Set S3_UPLOAD_ACCESS_KEY_ID to a pair that may do nothing else',
  );
}

async function goUnsigned(storage: Storage, key: string, free: string): Promise<Expected> {
  const there = unsigned((await storage.presignGet(key, DOWNLOAD)).url);
  const list = `${there.slice(0, -key.length)}?list-type=2`;
  const possible: string[] = [];
  if ((await request(there)).ok) possible.push('read');
  if ((await request(list)).ok) possible.push('list');
  if ((await request(there.replace(key, free), { method: 'PUT', body: new Uint8Array(SENT) })).ok)
    possible.push('write');
  if (possible.length === 0) return ok('nobody can read, list or write without a signature');
  return unsafe(`anybody can ${possible.join(' and ')} objects without a signature`);
}

async function askAsBrowser(storage: Storage, origin: string, key: string): Promise<Expected> {
  const lacks = await whatBrowsersLack(storage, origin, key);
  if (lacks.length === 0) return ok(`pages of ${origin} can upload and download`);
  return note(
    `pages of ${origin}, such as the studio, cannot ${lacks.join(', ')}. To allow them, run admin bucket cors`,
  );
}

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  /** The store's own code of an error. */
  readonly code: string;
  readonly headers: Headers;
  readonly body: string;
}

/** Throws if the store gave no answer, or one that says nothing about the request: that is no refusal. */
async function request(url: string, init: RequestInit = {}): Promise<Answer> {
  const answer = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  const body = await answer.text();
  if (NOT_NOW.has(answer.status)) throw new Error(`the store answered ${answer.status}`);
  const [, code = ''] = /<Code>(\w+)<\/Code>/.exec(body) ?? [];
  return { ok: answer.ok, status: answer.status, code, headers: answer.headers, body };
}

function unsigned(url: string): string {
  const bare = new URL(url);
  bare.search = '';
  return bare.toString();
}

function withOtherSignature(url: string): string {
  const other = new URL(url);
  other.searchParams.set('X-Amz-Signature', '0'.repeat(64));
  return other.toString();
}

const signerOf = (url: string): string | undefined =>
  new URL(url).searchParams.get('X-Amz-Credential')?.split('/')[0];

/** With the cause: its name if it is the store's (`AccessDenied`), or else its message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message, cause } = error;
  if (!(cause instanceof Error)) return message;
  return `${message} (${cause.name === 'Error' ? cause.message : cause.name})`;
}
