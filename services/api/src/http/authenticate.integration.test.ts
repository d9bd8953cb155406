import { OPERATIONS } from '@lipsync/contract';
import { revokeKey, setCustomerState } from '@lipsync/db';
import { FAILED_AUTH_PER_MINUTE } from '@lipsync/domain';
import { eventually, TEST_ACT } from '@lipsync/testkit';
import { send } from '../../test/http-client';
import { startApi, type TestApi, type TestApiOptions, type TestCustomer } from '../../test/start-api';

/** For a process that stays in the second in which it learned that an allowance is used up. */
const STOPPED = { now: () => 0 };

describe('authentication', () => {
  let api: TestApi;
  let customer: TestCustomer;
  async function start(options?: TestApiOptions): Promise<void> {
    api = await startApi(options);
    customer = await api.newCustomer();
  }
  async function restart(options: TestApiOptions): Promise<void> {
    await api.close();
    await start(options);
  }
  const withHeader = (authorization: string) =>
    send(`${api.baseUrl}/v1/assets/ast_1`, 'GET', { headers: { Authorization: authorization } });

  beforeAll(() => start());
  afterAll(() => api.close());

  it('refuses everything under /v1 without a key: operations, wrong methods and unknown paths alike', async () => {
    const requests = [
      ...OPERATIONS.map(({ method, path }) => [method.toUpperCase(), path.replace('{id}', 'x')] as const),
      ['DELETE', '/v1/renders/x'],
      ['GET', '/v1/renders'],
      ['GET', '/v1/nothing'],
      ['POST', '/v1'],
      ['GET', '/v1/'],
    ] as const;
    const bodies = new Set<string>();
    for (const [method, path] of requests) {
      const response = await send(`${api.baseUrl}${path}`, method);
      bodies.add(JSON.stringify(response.body));
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
      expect(response.headers.get('ratelimit-limit')).toBeNull();
    }
    expect(bodies.size).toBe(1);
  });

  it('refuses before it reads the body', async () => {
    const { status } = await send(`${api.baseUrl}/v1/renders`, 'POST', { raw: 'x'.repeat(100_000) });
    expect(status).toBe(401);
  });

  it('gives the same response for every bad credential', async () => {
    const { key } = customer;
    const basic = Buffer.from(`user:${key}`).toString('base64');
    const bad = [
      key,
      `Basic ${basic}`,
      `Token ${key}`,
      'Bearer',
      'Bearer x',
      `Bearer ${key}0`,
      `Bearer ${key.slice(0, -1)}`,
      `Bearer ${key} ${key}`,
      `Bearer svc_${'0'.repeat(64)}`,
      `Bearer ${key.toUpperCase()}`,
    ];
    for (const authorization of bad)
      expect(await withHeader(authorization)).toMatchObject({
        status: 401,
        body: { error: { code: 'invalid_api_key' } },
      });
  });

  it('accepts the scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await withHeader(`${scheme} ${customer.key}`)).status).toBe(404);
    }
  });

  it('refuses a key from the moment it is revoked', async () => {
    const { key, keyId } = await api.newCustomer();
    const get = () => api.operations.refused('get_asset', { key, id: 'x' });
    expect((await get()).status).toBe(404);
    await revokeKey(api.db, TEST_ACT, keyId);
    expect((await get()).status).toBe(401);
  });

  it('refuses the keys of a customer from the moment it is suspended, and serves them again when it is resumed', async () => {
    const { id, key } = await api.newCustomer();
    const get = () => api.operations.refused('get_asset', { key, id: 'x' });
    expect((await get()).status).toBe(404);
    await setCustomerState(api.db, TEST_ACT, id, 'suspended');
    const refusal = await get();
    expect([refusal.status, refusal.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    expect((await api.operations.refused('create_asset', { key })).status).toBe(401);
    await setCustomerState(api.db, TEST_ACT, id, 'active');
    expect((await get()).status).toBe(404);
  });

  it('refuses a key that has ended as it does a revoked one', async () => {
    const { key, keyId } = await api.newCustomer();
    const get = () => api.operations.refused('get_asset', { key, id: 'x' });
    expect((await get()).status).toBe(404);
    await api.db.prisma.$executeRaw`UPDATE api_keys SET expires_at = now() WHERE id = ${keyId}`;
    const ended = await get();
    await revokeKey(api.db, TEST_ACT, keyId);
    const revoked = await get();
    expect([ended.status, ended.code, ended.message]).toEqual([401, revoked.code, revoked.message]);
  });

  it('records when a key was last used', async () => {
    await api.operations.refused('get_asset', { key: customer.key, id: 'x' });
    await eventually(async () => {
      const row = await api.db.prisma.apiKey.findUniqueOrThrow({ where: { id: customer.keyId } });
      expect(row.lastUsedAt).not.toBeNull();
    });
  });

  describe('of an address that keeps failing', () => {
    /** Until the answer is not 401: the allowance refills by one per second, however long the requests take. */
    async function exhaust(from?: string) {
      let answered = 0;
      let answer = await attempt('nonsense', from);
      for (; answer.status === 401 && answered < 1_000; answered += 1)
        answer = await attempt('nonsense', from);
      expect(answer.status).toBe(429);
      return answered;
    }
    const attempt = (key: string, from?: string) =>
      send(`${api.baseUrl}/v1/assets/ast_1`, 'GET', {
        headers: {
          Authorization: `Bearer ${key}`,
          ...(from === undefined ? {} : { 'X-Forwarded-For': from }),
        },
      });
    const UNKNOWN = `svc_${'0'.repeat(64)}`;

    it('is refused with 429, but a key that was valid before is still served from that address', async () => {
      await restart({});
      expect((await attempt(customer.key)).status).toBe(404);
      expect(await exhaust()).toBeGreaterThanOrEqual(FAILED_AUTH_PER_MINUTE);
      expect((await attempt(customer.key)).status).toBe(404);
    });

    it('is refused before the database is asked for keys that were never valid', async () => {
      await restart({ clock: STOPPED });
      expect((await attempt(customer.key)).status).toBe(404);
      await exhaust();
      await api.db.prisma.$executeRaw`ALTER TABLE api_keys RENAME TO unreachable_keys`;
      const { status, headers } = await attempt(UNKNOWN);
      expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 429, retryAfter: '1' });
      // A key that was valid is looked up each time: it may have been revoked.
      expect((await attempt(customer.key)).status).toBe(503);
    });

    it('is refused in every address of its IPv6 network, and in no other', async () => {
      await restart({ clock: STOPPED, config: { trustedProxyHops: 1 } });
      await exhaust('2001:db8:1:2::1');
      expect((await attempt(UNKNOWN, '2001:db8:1:2:ffff::3')).status).toBe(429);
      expect((await attempt(UNKNOWN, '2001:db8:1:3::1')).status).toBe(401);
    });
  });
});
