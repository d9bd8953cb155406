import { type OperationId, OPERATIONS } from '@lipsync/contract';
import { type IdPrefix, newId } from '@lipsync/domain';
import { createScenario, type Scenario } from '../../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../../test/start-api';

interface Resource {
  prefix: IdPrefix;
  make: (scenario: Scenario) => Promise<string>;
  /** `<name>_not_found` and `<name>_expired` are the codes of its refusals. */
  name: string;
}

const RENDER: Resource = { prefix: 'ren', make: (own) => own.completedRender(), name: 'render' };

/** The operations on a resource that their path names. */
const TABLE: Partial<Record<OperationId, Resource>> = {
  get_render: RENDER,
  // It has ended, so this also shows that 410 comes before 409.
  cancel_render: RENDER,
  get_preparation: { prefix: 'prp', make: (own) => own.completedPreparation(), name: 'preparation' },
  complete_upload: {
    prefix: 'upl',
    make: async (own) => (await own.upload({ put: false })).id,
    name: 'upload',
  },
  get_asset: { prefix: 'ast', make: (own) => own.readyAsset(), name: 'asset' },
  get_webhook: { prefix: 'evt', make: (own) => own.webhookEvent(), name: 'webhook_event' },
};

describe('the resource in a path', () => {
  let api: TestApi;
  let customer: TestCustomer;
  beforeAll(async () => {
    api = await startApi();
    customer = await api.newCustomer({ postPerMinute: 1000, activeRecordsMax: 100 });
  });
  afterAll(() => api.close());

  it('is that of all operations below', () => {
    const named = OPERATIONS.filter(({ path }) => path.includes('{id}'));
    expect(named.map(({ operationId }) => operationId).sort()).toEqual(Object.keys(TABLE).sort());
  });

  describe.each(Object.entries(TABLE) as [OperationId, Resource][])('%s', (operationId, resource) => {
    const { prefix, make, name } = resource;
    const refuse = (id: string) => api.operations.refused(operationId, { key: customer.key, id });

    it("is 404 alike for an unknown and a malformed id, one of another kind, and another customer's", async () => {
      const stranger = createScenario(api, await api.newCustomer());
      const foreign = await make(stranger);
      const malformed = [
        'x',
        `${prefix}_`,
        `${prefix}_1`,
        prefix.toUpperCase(),
        `${foreign}'--`,
        '%00',
        '😀',
      ];
      const ofAnotherKind = newId(prefix === 'ren' ? 'prp' : 'ren', 0, new Uint8Array(10));
      const messages = new Set<string>();
      for (const id of [newId(prefix, 0, new Uint8Array(10)), ...malformed, ofAnotherKind, foreign]) {
        const refused = await refuse(id);
        expect({ id, ...refused }).toMatchObject({ id, status: 404, code: `${name}_not_found` });
        messages.add(refused.message);
      }
      await stranger.expire(foreign);
      expect((await refuse(foreign)).code).toBe(`${name}_not_found`);
      expect(messages.size).toBe(1);
    });

    it('is 410 once it has expired', async () => {
      const own = createScenario(api, customer);
      const id = await make(own);
      await own.expire(id);
      expect(await refuse(id)).toMatchObject({ status: 410, code: `${name}_expired` });
    });
  });
});
