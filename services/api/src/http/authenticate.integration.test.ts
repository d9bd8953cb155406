import { OPERATIONS } from '@lipsync/contract';
import { revokeKey } from '@lipsync/db';
import { FAILED_AUTH_PER_MINUTE } from '@lipsync/domain';
import { eventually, expectContract } from '@lipsync/testkit';
import { send } from '../../test/http-client';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

describe('authentication', () => {
  let api: TestApi;
  let customer: TestCustomer;
  const withHeader = (authorization: string) =>
    send(`${api.baseUrl}/v1/assets/ast_1`, 'GET', { headers: { Authorization: authorization } });

  beforeEach(async () => {
    api = await startApi();
    customer = await api.newCustomer();
  });
  afterEach(() => api.close());

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
      bodies.add(JSON.stringify(expectContract(null, response)));
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
    ];
    for (const authorization of [
      ...bad,
      `Bearer ${key} ${key}`,
      `Bearer svc_${'0'.repeat(64)}`,
      `Bearer ${key.toUpperCase()}`,
    ]) {
      const response = await withHeader(authorization);
      expectContract('get_asset', response);
      expect(response).toMatchObject({ status: 401, body: { error: { code: 'invalid_api_key' } } });
    }
  });

  it('accepts the scheme in any case', async () => {
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await withHeader(`${scheme} ${customer.key}`)).status).toBe(404);
    }
  });

  it('refuses a key from the moment it is revoked', async () => {
    await api.operations
      .refused('get_asset', { key: customer.key, id: 'x' })
      .then(({ status }) => expect(status).toBe(404));
    await revokeKey(api.db, customer.keyId);
    expect(await api.operations.refused('get_asset', { key: customer.key, id: 'x' })).toMatchObject({
      status: 401,
    });
  });

  it('records when a key was last used', async () => {
    await api.operations.refused('get_asset', { key: customer.key, id: 'x' });
    await eventually(async () => {
      const row = await api.db.prisma.apiKey.findUniqueOrThrow({ where: { id: customer.keyId } });
      expect(row.lastUsedAt).not.toBeNull();
    });
  });

  it('answers an address that keeps failing with 429, and still serves the good key from that address', async () => {
    // The allowance of sixty refills by one per second, however long the requests themselves take.
    let answered = 0;
    let answer = await withHeader('Bearer nonsense');
    for (; answer.status === 401 && answered < 1_000; answered += 1)
      answer = await withHeader('Bearer nonsense');
    expectContract('get_asset', answer);
    expect(answer.status).toBe(429);
    expect(answered).toBeGreaterThanOrEqual(FAILED_AUTH_PER_MINUTE);
    expect((await withHeader(`Bearer ${customer.key}`)).status).toBe(404);
  });
});
