import { randomUUID } from 'node:crypto';
import { type RenderRequest } from '@lipsync/contract';
import { median } from '../median';
import { closedLoop, type LoadFigures } from './closed-loop';
import { requestBytes } from './http-connection';
import { type Server, startApi, startBareServer } from './servers';
import { type Caller, endOpenRenders, type World } from './world';

export interface Comparison {
  bare: LoadFigures;
  /** One for each number of connections. */
  service: LoadFigures[];
  /** Requests per second over those of the bare handler, both with as many connections. */
  ratio_at_equal_connections: number;
  /** The best of the service whose p99 is as long as the bare handler's: the same promise, kept by fewer connections. */
  ratio_at_equal_p99: number;
}

const ROUNDS = 7;
const SECONDS = 1;
const WARM_UP_SECONDS = 2;
const CONNECTIONS = 16;
/** What a p99 moves by from run to run. */
const EQUAL = 1.1;
/** The points at which the service is measured: fewer connections wait for less. */
const SERVICE_CONNECTIONS = [16, 14, 12, 10];

interface Scenario {
  name: string;
  status: number;
  bare: (index: number) => Buffer;
  service: (index: number) => Buffer;
}

/** Rounds of the bare handler and the API, one after the other, each at rest while the other one works. */
export async function measureApi(world: World): Promise<Record<string, Comparison>> {
  const [api, bare] = await Promise.all([startApi(world), startBareServer(world)]);
  try {
    const scenarios = [
      await getRender(world, api, bare),
      createRender('create_render_1_customer', world.callers.slice(0, 1)),
      createRender('create_render_4_customers', world.callers.slice(0, 4)),
      createRender('create_render_16_customers', world.callers),
      createRender('create_render_with_idempotency_key', world.callers.slice(0, 4), () => ({
        'idempotency-key': randomUUID(),
      })),
    ];
    const rounds: Record<string, LoadFigures[][]> = {};
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const scenario of scenarios) {
        const seconds = round === 0 ? WARM_UP_SECONDS / SERVICE_CONNECTIONS.length : SECONDS;
        const figures = await measure(scenario, { api, bare, seconds });
        if (round > 0) (rounds[scenario.name] ??= []).push(figures);
        await endOpenRenders(world);
      }
    return Object.fromEntries(Object.entries(rounds).map(([name, figures]) => [name, compare(figures)]));
  } finally {
    await Promise.all([api.process.stop(), bare.process.stop()]);
  }
}

/** The bare handler first, then the service at each of its points. */
async function measure(
  { status, ...scenario }: Scenario,
  { api, bare, seconds }: { api: Server; bare: Server; seconds: number },
): Promise<LoadFigures[]> {
  const load = (server: Server, next: Scenario['bare'], connections: number) =>
    closedLoop({ port: server.port, connections, seconds, status, next });
  const figures = [await load(bare, scenario.bare, CONNECTIONS)];
  for (const connections of SERVICE_CONNECTIONS) figures.push(await load(api, scenario.service, connections));
  return figures;
}

/** The middle of the rounds, and what is made of it. */
function compare(rounds: readonly LoadFigures[][]): Comparison {
  const middle = (point: number, key: keyof LoadFigures) =>
    median(rounds.map((round) => round[point]?.[key] ?? NaN));
  const at = (point: number): LoadFigures => ({
    connections: middle(point, 'connections'),
    per_second: middle(point, 'per_second'),
    p50_ms: middle(point, 'p50_ms'),
    p99_ms: middle(point, 'p99_ms'),
  });
  const bare = at(0);
  const service = SERVICE_CONNECTIONS.map((_, index) => at(index + 1));
  const best = (figures: readonly LoadFigures[]) => Math.max(0, ...figures.map((point) => point.per_second));
  return {
    bare,
    service,
    ratio_at_equal_connections: best(service.slice(0, 1)) / bare.per_second,
    ratio_at_equal_p99: best(service.filter(({ p99_ms }) => p99_ms <= bare.p99_ms * EQUAL)) / bare.per_second,
  };
}

/** A hundred renders of four customers on either side. */
async function getRender(world: World, api: Server, bare: Server): Promise<Scenario> {
  const callers = world.callers.slice(0, 4);
  const prepare = async ({ port }: Server): Promise<Buffer[]> => {
    const requests = [];
    for (let index = 0; index < 100; index += 1) {
      const caller = take(callers, index);
      const path = `/v1/renders/${await createOne(port, caller)}`;
      requests.push(requestBytes({ method: 'GET', path, headers: authorization(caller) }));
    }
    return requests;
  };
  const [fromBare, fromService] = [await prepare(bare), await prepare(api)];
  await endOpenRenders(world);
  const bareNext = (index: number) => take(fromBare, index);
  return { name: 'get_render', status: 200, bare: bareNext, service: (index) => take(fromService, index) };
}

function createRender(
  name: string,
  callers: readonly Caller[],
  headers: () => Record<string, string> = () => ({}),
): Scenario {
  const next = (index: number): Buffer => {
    const caller = take(callers, index);
    return requestBytes({
      method: 'POST',
      path: '/v1/renders',
      headers: { ...authorization(caller), ...headers() },
      body: renderRequest(caller),
    });
  };
  return { name, status: 202, bare: next, service: next };
}

function renderRequest({ videoId, audioId }: Caller): RenderRequest {
  return {
    video: { asset_id: videoId },
    audio: { asset_id: audioId },
    engines: ['musetalk'],
    sync_mode: 'cut_off',
    webhook_url: 'https://hooks.example.com/lipsync',
  };
}

const authorization = ({ apiKey }: Caller) => ({ authorization: `Bearer ${apiKey}` });

async function createOne(port: number, caller: Caller): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/renders`, {
    method: 'POST',
    headers: { ...authorization(caller), 'content-type': 'application/json' },
    body: JSON.stringify(renderRequest(caller)),
  });
  if (response.status !== 202) throw new Error(`a create was answered with ${response.status}`);
  return ((await response.json()) as { id: string }).id;
}

function take<T>(values: readonly T[], index: number): T {
  const value = values[index % values.length];
  if (value === undefined) throw new Error('there is nothing to take from');
  return value;
}
