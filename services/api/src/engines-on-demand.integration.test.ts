import { send } from '../test/http-client';
import { renderRequest } from '../test/scenario';
import { startApi, type TestApi } from '../test/start-api';

describe('engines whose workers start on demand', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startApi({ engines: [], config: { enginesOnDemand: ['musetalk'] } });
  });
  afterAll(() => api.close());

  it('accept renders while no worker is running, and the service is ready', async () => {
    const { key } = await api.newCustomer();
    const { body } = await api.operations.ok('create_render', { key, json: renderRequest() });
    expect(body.status).toBe('accepted');
    expect((await send(`${api.baseUrl}/readyz`, 'GET')).status).toBe(200);
  });

  it('leave other engines unavailable', async () => {
    const { key } = await api.newCustomer();
    const json = renderRequest({ engines: ['musetalk', 'highsync'] });
    const refusal = await api.operations.refused('create_render', { key, json });
    expect(refusal).toMatchObject({ status: 503, code: 'engine_unavailable' });
  });
});
