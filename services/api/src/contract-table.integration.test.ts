import {
  ERROR_CATALOGUE,
  openapiDocument,
  type OperationId,
  operationNamed,
  OPERATIONS,
} from '@lipsync/contract';
import { newId } from '@lipsync/domain';
import { type ContractResponse, expectContract } from '@lipsync/testkit';
import { type RequestOptions, send } from '../test/http-client';
import {
  AUDIO_URL,
  createScenario,
  preparationRequest,
  renderRequest,
  type Scenario,
  VIDEO_URL,
} from '../test/scenario';
import { startApi, type TestApi, type TestCustomer } from '../test/start-api';

const SUCCESS = 'success';
const STATUSES = [SUCCESS, 400, 401, 404, 405, 409, 410, 413, 429, 503] as const;
type Status = (typeof STATUSES)[number];

interface World {
  api: TestApi;
  /** The same service, but with a database that refuses connections. */
  withoutDatabase: TestApi;
  customer: TestCustomer;
  scenario: Scenario;
}

interface Request extends RequestOptions {
  id?: string;
  method?: string;
  api?: TestApi;
}

/** Either sets up the state and returns the request that must get this column's status, or says why no request can. */
type Cell = string | ((world: World) => Request | Promise<Request>);
type Row = Record<Status, Cell>;

const unknown = (prefix: 'ren' | 'prp' | 'ast' | 'upl' | 'evt'): string =>
  newId(prefix, 0, new Uint8Array(10));
const UPLOAD = { media_type: 'video', content_type: 'video/mp4', size_bytes: 8 };
const ASSET = { url: VIDEO_URL, media_type: 'video' };

/** Cells that are the same for every operation; `valid` is a request that would succeed. */
function common(
  valid: (world: World) => Request | Promise<Request>,
): Pick<Row, 'success' | 401 | 405 | 429 | 503> {
  return {
    success: valid,
    401: async (world) => ({ ...(await valid(world)), key: '' }),
    405: async (world) => ({ ...(await valid(world)), method: 'DELETE' }),
    429: async ({ api }) => {
      const { key } = await api.newCustomer({ getPerMinute: 1, postPerMinute: 1 });
      await send(`${api.baseUrl}/v1/nothing`, 'GET', { key });
      await send(`${api.baseUrl}/v1/nothing`, 'POST', { key });
      return { key, id: 'any' };
    },
    503: ({ withoutDatabase }) => ({ api: withoutDatabase, id: 'any' }),
  };
}

/** Cells for an operation that reads the resource in its path. */
function reads(prefix: 'ren' | 'prp' | 'ast' | 'evt', make: (world: World) => Promise<string>): Row {
  return {
    ...common(async (world) => ({ id: await make(world) })),
    400: 'it takes no body, ignores the query, and a malformed id is 404',
    404: () => ({ id: unknown(prefix) }),
    409: 'a resource can be read in every state',
    410: async (world) => {
      const id = await make(world);
      await world.scenario.expire(id);
      return { id };
    },
    413: 'it reads no body',
  };
}

const TOO_LARGE: Request = { json: { padding: 'x'.repeat(70_000) } };
const NOTHING_NAMED = 'it names no other resource, and its path exists';

const TABLE: Record<OperationId, Row> = {
  create_render: {
    ...common(() => ({ json: renderRequest() })),
    400: () => ({ json: { ...renderRequest(), engines: [] } }),
    404: () => ({ json: renderRequest({ video: { asset_id: unknown('ast') } }) }),
    409: async ({ scenario }) => ({
      json: renderRequest({ video: { asset_id: await scenario.failedAsset() } }),
    }),
    410: async ({ scenario }) => ({
      json: renderRequest({ video: { asset_id: await scenario.expiredAsset() } }),
    }),
    413: () => TOO_LARGE,
  },
  get_render: reads('ren', ({ scenario }) => scenario.completedRender()),
  cancel_render: {
    ...common(async ({ scenario }) => ({ id: await scenario.render() })),
    400: 'a body is ignored, and a malformed id is 404',
    404: () => ({ id: unknown('ren') }),
    409: async ({ scenario }) => ({ id: await scenario.completedRender() }),
    410: async ({ scenario }) => {
      const id = await scenario.render();
      await scenario.expire(id);
      return { id };
    },
    413: () => ({ ...TOO_LARGE, id: unknown('ren') }),
  },
  create_preparation: {
    ...common(() => ({ json: preparationRequest() })),
    400: () => ({ json: { video: { url: 'http://media.example.com/a.mp4' } } }),
    404: () => ({ json: preparationRequest({ video: { asset_id: unknown('ast') } }) }),
    409: async ({ scenario }) => ({
      json: preparationRequest({ video: { asset_id: await scenario.awaitingAsset() } }),
    }),
    410: async ({ scenario }) => ({
      json: preparationRequest({ video: { asset_id: await scenario.expiredAsset() } }),
    }),
    413: () => TOO_LARGE,
  },
  get_preparation: reads('prp', ({ scenario }) => scenario.completedPreparation()),
  create_upload: {
    ...common(() => ({ json: UPLOAD })),
    400: () => ({ json: { ...UPLOAD, size_bytes: 257 * 1024 * 1024 } }),
    404: NOTHING_NAMED,
    409: 'nothing it depends on has a state, and it knows no idempotency key',
    410: NOTHING_NAMED,
    413: () => TOO_LARGE,
  },
  complete_upload: {
    ...common(async ({ scenario }) => ({ id: (await scenario.upload()).id })),
    400: 'a body is ignored, and a malformed id is 404',
    404: () => ({ id: unknown('upl') }),
    409: async ({ scenario }) => ({ id: (await scenario.upload({ put: false })).id }),
    410: async ({ scenario }) => {
      const { id } = await scenario.upload({ put: false });
      await scenario.expire(id);
      return { id };
    },
    413: () => ({ ...TOO_LARGE, id: unknown('upl') }),
  },
  create_asset: {
    ...common(() => ({ json: ASSET })),
    400: () => ({ json: { url: AUDIO_URL, media_type: 'image' } }),
    404: NOTHING_NAMED,
    409: 'nothing it depends on has a state, and it knows no idempotency key',
    410: NOTHING_NAMED,
    413: () => TOO_LARGE,
  },
  get_asset: reads('ast', ({ scenario }) => scenario.readyAsset()),
  get_webhook: reads('evt', ({ scenario }) => scenario.webhookEvent()),
};

describe('every operation × every status of the contract', () => {
  let world: World;

  beforeAll(async () => {
    const api = await startApi();
    const withoutDatabase = await startApi({ databaseUrl: 'postgresql://nobody:nothing@127.0.0.1:1/none' });
    const customer = await api.newCustomer({ activeRecordsMax: 1000, postPerMinute: 10_000 });
    world = { api, withoutDatabase, customer, scenario: createScenario(api, customer) };
  });
  afterAll(async () => {
    await world.withoutDatabase.close();
    await world.api.close();
  });

  async function answer(operationId: OperationId, request: Request): Promise<ContractResponse> {
    const operation = operationNamed(operationId);
    const {
      api = world.api,
      id = '',
      method = operation.method.toUpperCase(),
      key = world.customer.key,
      ...rest
    } = request;
    const url = `${api.baseUrl}${operation.path.replace('{id}', id)}`;
    const response = await send(url, method, key === '' ? rest : { ...rest, key });
    expectContract(operationId, response);
    return response;
  }

  describe.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
    '%s',
    (operationId, operation) => {
      const row = TABLE[operationId];
      const cells = STATUSES.map((status) => [status, row[status]] as const);
      const reachable = cells.flatMap(([status, cell]) =>
        typeof cell === 'string' ? [] : [[status, cell] as const],
      );
      const unreachable = cells.flatMap(([status, cell]) =>
        typeof cell === 'string' ? [[status, cell] as const] : [],
      );
      const declaredStatuses = operation.errorCodes.map((code) => ERROR_CATALOGUE[code].httpStatus);

      it.each(reachable)('%s', async (status, prepare) => {
        const response = await answer(operationId, await prepare(world));
        expect(response.status).toBe(status === SUCCESS ? operation.successStatus : status);
      });

      it('has a cell for every status of the document', () => {
        const paths: Readonly<Record<string, Readonly<Record<string, { responses: object }>>>> =
          openapiDocument.paths;
        const inDocument = Object.keys(paths[operation.path]?.[operation.method]?.responses ?? {}).map(
          Number,
        );
        const inTable = STATUSES.map((status) => (status === SUCCESS ? operation.successStatus : status));
        expect([...inTable].sort()).toEqual(inDocument.sort());
      });

      if (unreachable.length > 0) {
        it.each(unreachable)('never %s: %s, and so no code of that status is declared', (status) => {
          expect(declaredStatuses).not.toContain(status);
        });
      }
    },
  );
});
