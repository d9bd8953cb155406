import { randomUUID } from 'node:crypto';
import { type RenderRequest } from '@lipsync/contract';
import { median } from '@lipsync/local-stack';
import { closedLoop, type LoadFigures } from './closed-loop';
import { requestBytes } from './http-connection';
import { type Server, startApi, startBareServer } from './servers';
import { type Caller, endOpenRenders, type World } from './world';

/** Throughput of the service divided by that of the bare handler. */
export interface Comparison {
  bare: LoadFigures;
  /** With the same number of connections on both sides. */
  ratio_at_equal_connections: number;
  /**
   * The service's best throughput with a p99 no longer than the bare handler's, which it may reach with fewer
   * connections.
   */
  ratio_at_equal_p99: number;
}

export interface OperationFigures {
  /** One entry per number of connections. */
  service: LoadFigures[];
  /** Against the bare handler at the load that saturates it, and at twice that load. */
  against: Comparison[];
}

const ROUNDS = 7;
const SECONDS = 1;
/** Per point: compiling code and planning statements on new connections takes seconds. */
const WARM_UP_SECONDS = 2;
const BARE_CONNECTIONS = [16, 32];
/** Numbers of connections at which the service is measured; with fewer, each request waits less. */
const SERVICE_CONNECTIONS = [12, 16, 24, 32];

/** One figure per number of connections. */
interface Round {
  bare: LoadFigures[];
  service: LoadFigures[];
}

interface Scenario {
  name: string;
  status: number;
  bare: (index: number) => Buffer;
  service: (index: number) => Buffer;
}

/** Measures the bare handler and the API alternately; each is idle while the other runs. */
export async function measureApi(world: World): Promise<Record<string, OperationFigures>> {
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
    const rounds: Record<string, Round[]> = {};
    for (let round = 0; round <= ROUNDS; round += 1)
      for (const scenario of scenarios) {
        const seconds = round === 0 ? WARM_UP_SECONDS : SECONDS;
        const figures = await measure(scenario, { world, api, bare, seconds });
        if (round > 0) (rounds[scenario.name] ??= []).push(figures);
      }
    return Object.fromEntries(Object.entries(rounds).map(([name, figures]) => [name, compare(figures)]));
  } finally {
    await Promise.all([api.process.stop(), bare.process.stop()]);
  }
}

/**
 * Measures the bare handler, then the service at each number of connections. Open renders are ended in between, because
 * a create counts its customer's open renders, and no real customer has thousands.
 */
async function measure(
  { status, ...scenario }: Scenario,
  { world, api, bare, seconds }: { world: World; api: Server; bare: Server; seconds: number },
): Promise<Round> {
  const load = (server: Server, next: Scenario['bare'], connections: number) =>
    closedLoop({ port: server.port, connections, seconds, status, next });
  const figures: Round = { bare: [], service: [] };
  for (const connections of BARE_CONNECTIONS) figures.bare.push(await load(bare, scenario.bare, connections));
  for (const connections of SERVICE_CONNECTIONS) {
    figures.service.push(await load(api, scenario.service, connections));
    await endOpenRenders(world);
  }
  return figures;
}

/** The medians over the rounds, and the ratios of the two sides. */
function compare(rounds: readonly Round[]): OperationFigures {
  const service = middle(rounds.map((round) => round.service));
  const best = (figures: readonly LoadFigures[]) => Math.max(0, ...figures.map((point) => point.per_second));
  return {
    service,
    against: middle(rounds.map((round) => round.bare)).map((bare) => ({
      bare,
      ratio_at_equal_connections:
        best(service.filter(({ connections }) => connections === bare.connections)) / bare.per_second,
      ratio_at_equal_p99: best(service.filter(({ p99_ms }) => p99_ms <= bare.p99_ms)) / bare.per_second,
    })),
  };
}

/** Median over the rounds of every figure, point by point. */
function middle(rounds: readonly LoadFigures[][]): LoadFigures[] {
  const points = rounds[0]?.length ?? 0;
  return Array.from({ length: points }, (_, point) => {
    const of = (key: keyof LoadFigures) => median(rounds.map((round) => round[point]?.[key] ?? NaN));
    return {
      connections: of('connections'),
      per_second: of('per_second'),
      p50_ms: of('p50_ms'),
      p99_ms: of('p99_ms'),
    };
  });
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
