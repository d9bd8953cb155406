import { createStorage } from '@lipsync/storage';
import { type S3Server, type S3ServerOptions, startS3Server } from '@lipsync/testkit';
import { runCommand } from '../test/operator';

let server: S3Server;

async function serve(options: S3ServerOptions = {}): Promise<void> {
  server = await startS3Server(options);
}
afterEach(() => server.close());

const ONE_PAIR = { S3_UPLOAD_ACCESS_KEY_ID: '', S3_UPLOAD_SECRET_ACCESS_KEY: '' };

/** Runs `bucket check` as in a deployment that signs uploads with a pair of their own, but for these settings. */
async function check(changes: Record<string, string> = {}, ...options: string[]) {
  const environment = {
    S3_ENDPOINT: server.endpoint,
    S3_BUCKET: server.bucket,
    S3_ACCESS_KEY_ID: server.accessKeyId,
    S3_SECRET_ACCESS_KEY: server.secretAccessKey,
    S3_UPLOAD_ACCESS_KEY_ID: server.uploadCredentials.accessKeyId,
    S3_UPLOAD_SECRET_ACCESS_KEY: server.uploadCredentials.secretAccessKey,
    ...changes,
  };
  const { exitCode, stdout, stderr } = await runCommand(environment, 'bucket', 'check', '--json', ...options);
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

async function keysLeft(): Promise<string[]> {
  const storage = createStorage({ ...server, forcePathStyle: true });
  const keys: string[] = [];
  for await (const key of storage.list('')) keys.push(key);
  storage.close();
  return keys;
}

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
    expect(notes).toEqual(['upload with other headers']);
  });

  it('calls a strict store safe with one pair, and names what that rests on', async () => {
    await serve();
    const { exitCode, unsafe, broken, notes } = await check(ONE_PAIR);
    expect({ exitCode, unsafe, broken }).toEqual({ exitCode: 0, unsafe: [], broken: [] });
    expect(notes).toEqual(['credentials of uploads']);
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

  it('tries signed addresses at the endpoint that callers use, if it is named', async () => {
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
