import { createStorage, type Storage } from '@lipsync/storage';
import { type S3Server, type S3ServerOptions, startS3Server } from '@lipsync/testkit';
import { runCommand } from '../test/operator';

let server: S3Server;

async function serve(options: S3ServerOptions = {}): Promise<void> {
  server = await startS3Server(options);
}
afterEach(() => server.close());

const ONE_PAIR = { S3_UPLOAD_ACCESS_KEY_ID: '', S3_UPLOAD_SECRET_ACCESS_KEY: '' };

const PAGES = 'https://lipsync.example.com';

/** Runs a command as in a deployment that signs uploads with a pair of their own, but for these settings. */
function bucket(changes: Record<string, string>, ...args: string[]) {
  const environment = {
    S3_ENDPOINT: server.endpoint,
    S3_BUCKET: server.bucket,
    S3_ACCESS_KEY_ID: server.accessKeyId,
    S3_SECRET_ACCESS_KEY: server.secretAccessKey,
    S3_UPLOAD_ACCESS_KEY_ID: server.uploadCredentials.accessKeyId,
    S3_UPLOAD_SECRET_ACCESS_KEY: server.uploadCredentials.secretAccessKey,
    PUBLIC_BASE_URL: `${PAGES}/`,
    ...changes,
  };
  return runCommand(environment, 'bucket', ...args, '--json');
}

async function check(changes: Record<string, string> = {}, ...options: string[]) {
  const { exitCode, stdout, stderr } = await bucket(changes, 'check', ...options);
  type Finding = Record<'verdict' | 'check' | 'finding', string>;
  const findings = stdout === '' ? [] : (JSON.parse(stdout) as Finding[]);
  const named = (verdict: string) =>
    findings.filter((each) => each.verdict === verdict).map((each) => each.check);
  return {
    exitCode,
    stderr,
    tried: findings.map((each) => each.check),
    unsafe: named('unsafe'),
    broken: named('broken'),
    notes: named('note'),
    finding: (name: string) => findings.find((each) => each.check === name)?.finding,
  };
}

async function withStorage<T>(use: (storage: Storage) => Promise<T>): Promise<T> {
  const storage = createStorage({ ...server, forcePathStyle: true });
  try {
    return await use(storage);
  } finally {
    storage.close();
  }
}

const keysLeft = () =>
  withStorage(async (storage) => {
    const keys: string[] = [];
    for await (const key of storage.list('')) keys.push(key);
    return keys;
  });

describe('admin bucket check', () => {
  it('calls a store unsafe that lets a signed upload copy other objects or become public', async () => {
    await serve({ lenient: true });
    const { exitCode, unsafe, broken, finding } = await check(ONE_PAIR);
    expect({ exitCode, unsafe, broken }).toEqual({
      exitCode: 1,
      unsafe: ['upload that copies', 'upload for everybody'],
      broken: [],
    });
    expect(finding('upload that copies')).toContain('S3_UPLOAD_ACCESS_KEY_ID');
  });

  it('calls the same store safe with uploads signed by a pair that may only put under uploads/', async () => {
    await serve({ lenient: true });
    const { exitCode, unsafe, broken, notes } = await check();
    expect({ exitCode, unsafe, broken }).toEqual({ exitCode: 0, unsafe: [], broken: [] });
    expect(notes).toEqual(['upload with other headers', 'browsers']);
  });

  it('calls a strict store safe with one pair, and names what that rests on', async () => {
    await serve();
    const { exitCode, unsafe, broken, notes } = await check(ONE_PAIR);
    expect({ exitCode, unsafe, broken }).toEqual({ exitCode: 0, unsafe: [], broken: [] });
    expect(notes).toEqual(['credentials of uploads', 'browsers']);
  });

  it('leaves nothing behind, also in a store that is unsafe', async () => {
    await serve({ lenient: true });
    await check(ONE_PAIR);
    expect(await keysLeft()).toEqual([]);
  });

  it('ends with 1 when the service could not work, and says what is refused', async () => {
    await serve();
    server.faults.set({ denyRate: 1, applies: ({ method }) => method === 'DELETE' });
    const { exitCode, broken, finding } = await check(ONE_PAIR);
    expect({ exitCode, broken }).toEqual({ exitCode: 1, broken: ['delete', 'clean up'] });
    expect(finding('delete')).toContain('AccessDenied');
  });

  it('does not call safe what it could not try: an endpoint that takes no signed upload ends the check', async () => {
    await serve();
    const { exitCode, broken, tried } = await check({ S3_UPLOAD_SECRET_ACCESS_KEY: 'wrong' });
    expect({ exitCode, broken }).toEqual({ exitCode: 1, broken: ['signed upload'] });
    expect(tried).not.toContain('upload that copies');
  });

  it('does not take a store that is too busy to answer for one that refuses', async () => {
    await serve({ lenient: true });
    server.faults.set({
      slowDownRate: 1,
      applies: ({ method, key }) => method === 'PUT' && key.endsWith('/copying'),
    });
    const { exitCode, broken } = await check();
    expect({ exitCode, broken }).toEqual({ exitCode: 1, broken: ['upload that copies'] });
  });

  it('tests signed URLs at the endpoint that callers use, if it is named', async () => {
    await serve();
    const { exitCode, broken } = await check({}, '--endpoint', 'http://127.0.0.1:1');
    expect({ exitCode, broken }).toEqual({ exitCode: 1, broken: ['signed download', 'signed upload'] });
  });

  it('refuses half a pair for uploads', async () => {
    await serve();
    const { exitCode, stderr } = await check({ S3_UPLOAD_SECRET_ACCESS_KEY: '' });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('set both or neither');
  });
});

describe('admin bucket cors', () => {
  const cors = async (...options: string[]) => {
    const { exitCode, stdout, stderr } = await bucket(ONE_PAIR, 'cors', ...options);
    return { exitCode, stderr, done: stdout === '' ? undefined : (JSON.parse(stdout) as object) };
  };
  const preflight = (url: string, origin: string, method: string, headers: string) =>
    fetch(url, {
      method: 'OPTIONS',
      headers: {
        origin,
        'access-control-request-method': method,
        'access-control-request-headers': headers,
      },
    });

  it('lets pages of PUBLIC_BASE_URL upload by a signed address, and those of nobody else', async () => {
    await serve();
    expect(await cors()).toMatchObject({ exitCode: 0, done: { pages: PAGES, change: 'the rule was added' } });
    const { url } = await withStorage((storage) =>
      storage.presignPut('uploads/upl_1', { contentType: 'video/mp4', contentLength: 4, expiresSeconds: 60 }),
    );
    const allowed = await preflight(url, PAGES, 'PUT', 'content-type');
    expect(allowed.status).toBe(200);
    expect(allowed.headers.get('access-control-allow-origin')).toBe(PAGES);
    expect(allowed.headers.get('access-control-max-age')).toBe('3600');
    const headers = { 'content-type': 'video/mp4', origin: PAGES };
    const uploaded = await fetch(url, { method: 'PUT', body: 'abcd', headers });
    expect([uploaded.status, uploaded.headers.get('access-control-allow-origin')]).toEqual([200, PAGES]);

    expect((await preflight(url, 'https://elsewhere.example', 'PUT', 'content-type')).status).toBe(403);
    expect((await preflight(url, PAGES, 'DELETE', 'content-type')).status).toBe(403);
    expect((await preflight(url, PAGES, 'PUT', 'content-type, x-amz-acl')).status).toBe(403);
  });

  it('satisfies the check, which says before what pages cannot do', async () => {
    await serve();
    const before = await check(ONE_PAIR);
    expect(before.finding('browsers')).toBe(
      `pages of ${PAGES}, such as the studio, cannot upload, download in parts. To allow them, run admin bucket cors`,
    );
    await cors();
    const after = await check(ONE_PAIR);
    expect(after.notes).not.toContain('browsers');
    expect(after.finding('browsers')).toBe(`pages of ${PAGES} can upload and download`);
  });

  it('changes nothing when it is repeated, and replaces only its own rule when the pages are others', async () => {
    await serve();
    await cors();
    expect(await cors()).toMatchObject({ done: { change: 'none: the rule already existed' } });
    expect(await cors('--origin', 'https://app.example.com/path')).toMatchObject({
      done: { pages: `${PAGES} https://app.example.com`, change: 'the former rule was replaced' },
    });
    expect(await cors()).toMatchObject({ done: { pages: PAGES, change: 'the former rule was replaced' } });
  });

  it('says what a refused pair of keys lacks, and what to do with a store that has no such rules', async () => {
    await serve();
    server.faults.set({ denyRate: 1, applies: ({ key }) => key === '' });
    const refused = await cors();
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain('s3:PutBucketCORS');
    await server.close();
    await serve({ corsRules: false });
    const without = await cors();
    expect(without.exitCode).toBe(1);
    expect(without.stderr).toContain(
      `this store has no CORS rules for buckets, and does not allow pages of ${PAGES}`,
    );
  });

  it('can be part of making the bucket', async () => {
    await serve();
    const { stdout } = await bucket(ONE_PAIR, 'create', '--cors');
    expect(JSON.parse(stdout)).toMatchObject({ created: false, pages: PAGES, change: 'the rule was added' });
  });
});
