import { issueKey } from '@lipsync/db';
import { formatApiKey, hashApiKey, lastFourOf } from '@lipsync/domain';
import { TEST_ACT } from '@lipsync/testkit';
import { send } from '../../test/http-client';
import { renderRequest } from '../../test/scenario';
import { startApi, type TestApi } from '../../test/start-api';

describe('rate limit', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi();
  });
  afterAll(() => api.close());

  it('counts down in the headers of every response and refuses with Retry-After at zero', async () => {
    const { key } = await api.newCustomer({ getPerMinute: 3 });
    const remaining: (string | null)[] = [];
    for (let i = 0; i < 3; i += 1) {
      const { headers } = await api.operations.refused('get_render', { key, id: 'x' });
      expect(headers.get('ratelimit-limit')).toBe('3');
      remaining.push(headers.get('ratelimit-remaining'));
    }
    expect(remaining).toEqual(['2', '1', '0']);
    const refused = await api.operations.refused('get_render', { key, id: 'x' });
    expect(refused).toMatchObject({ status: 429, code: 'rate_limit_exceeded' });
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    // The allowance of three per minute refills by one request every 20 s.
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(20);
    expect(Number(refused.headers.get('ratelimit-reset'))).toBeGreaterThan(40);
    expect(Number(refused.headers.get('ratelimit-reset'))).toBeLessThanOrEqual(60);
  });

  it('counts reads and writes separately', async () => {
    const { key } = await api.newCustomer({ getPerMinute: 1, postPerMinute: 1 });
    await api.operations.refused('get_render', { key, id: 'x' });
    await api.operations.ok('create_render', { key, json: renderRequest() });
    expect((await api.operations.refused('get_render', { key, id: 'x' })).status).toBe(429);
    expect((await api.operations.refused('create_render', { key, json: {} })).status).toBe(429);
  });

  it('belongs to the customer: its other keys share the allowance, other customers do not', async () => {
    const customer = await api.newCustomer({ getPerMinute: 1 });
    const second = formatApiKey(Buffer.alloc(32, 7));
    await issueKey(api.db, TEST_ACT, {
      customerId: customer.id,
      hash: hashApiKey(second),
      lastFour: lastFourOf(second),
    });
    await api.operations.refused('get_render', { key: customer.key, id: 'x' });
    expect((await api.operations.refused('get_render', { key: second, id: 'x' })).status).toBe(429);
    const other = await api.newCustomer();
    expect((await api.operations.refused('get_render', { key: other.key, id: 'x' })).status).toBe(404);
  });

  it('comes before 404, 405 and 413, and counts them', async () => {
    const { key } = await api.newCustomer({ getPerMinute: 1, postPerMinute: 1 });
    expect((await send(`${api.baseUrl}/v1/nothing`, 'GET', { key })).status).toBe(404);
    expect((await send(`${api.baseUrl}/v1/nothing`, 'GET', { key })).status).toBe(429);
    expect((await send(`${api.baseUrl}/v1/renders/x`, 'DELETE', { key })).status).toBe(405);
    expect((await send(`${api.baseUrl}/v1/renders/x`, 'DELETE', { key })).status).toBe(429);
    expect((await send(`${api.baseUrl}/v1/renders`, 'POST', { key, raw: 'x'.repeat(70_000) })).status).toBe(
      429,
    );
  });
});
