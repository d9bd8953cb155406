import path from 'node:path';
import { type RenderRequest } from '@lipsync/contract';
import { median } from '@lipsync/local-stack';
import { freePorts } from '@lipsync/testkit';
import { atRate, closedLoop, type LoadFigures, requestBytes } from './http-load';
import { type Caller, serviceEnvironment, serviceMain, startProgram, type World } from './world';

export interface ApiFigures {
  creates: {
    /** As many as it accepts. */
    closed_loop: LoadFigures;
    /** At half of the rate that is aimed at. */
    at_rate: LoadFigures;
  };
  gets: {
    service: LoadFigures;
    /** A handler that selects one row by its key and answers with it. */
    bare: LoadFigures;
    /** Throughput of the service divided by that of the bare handler. */
    of_bare: number;
  };
}

const ROUNDS = 5;
/** Seconds of one measurement in a round. */
const SECONDS = 2;
const CONNECTIONS = 16;
const RENDERS = 100;
const OFFERED_PER_SECOND = 50;
const OFFERED_SECONDS = 20;

/** A server under test on a port of this machine. */
interface Server {
  port: number;
  stop(): Promise<void>;
}

/** Renders of four customers, created and read through the API as it runs in production. */
export async function measureApi(world: World, say: (line: string) => void): Promise<ApiFigures> {
  const api = await startApi(world);
  try {
    const creates = await measureCreates(world, api, say);
    const bare = await startBareServer(world);
    try {
      return { creates, gets: await measureGets(world, { api, bare }, say) };
    } finally {
      await bare.stop();
    }
  } finally {
    await api.stop();
  }
}

async function measureCreates(
  world: World,
  { port }: Server,
  say: (line: string) => void,
): Promise<ApiFigures['creates']> {
  const requests = world.callers.map((caller) =>
    requestBytes({
      method: 'POST',
      path: '/v1/renders',
      headers: authorization(caller),
      body: renderRequest(caller),
    }),
  );
  const load = { port, status: 202, next: (index: number) => take(requests, index) };
  const rounds: LoadFigures[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const figures = await closedLoop({ ...load, connections: CONNECTIONS, seconds: SECONDS });
    await endOpenRenders(world);
    say(
      `creates, ${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ${figures.per_second.toFixed(0)}/s`,
    );
    if (round > 0) rounds.push(figures);
  }
  const offered = await atRate({ ...load, perSecond: OFFERED_PER_SECOND, seconds: OFFERED_SECONDS });
  await endOpenRenders(world);
  say(`creates at ${OFFERED_PER_SECOND}/s: p99 ${offered.p99_ms.toFixed(0)} ms`);
  return { closed_loop: middle(rounds), at_rate: offered };
}

/** The bare handler and the API in turn; each is idle while the other runs. */
async function measureGets(
  world: World,
  { api, bare }: { api: Server; bare: Server },
  say: (line: string) => void,
): Promise<ApiFigures['gets']> {
  const ids = await Promise.all(
    Array.from({ length: RENDERS }, (_, i) => createOne(api, take(world.callers, i))),
  );
  await endOpenRenders(world);
  await world.sql.query('CREATE TABLE bare_renders (LIKE renders INCLUDING INDEXES)');
  await world.sql.query('INSERT INTO bare_renders SELECT * FROM renders WHERE id = ANY ($1)', [ids]);
  const requests = ids.map((id, i) =>
    requestBytes({
      method: 'GET',
      path: `/v1/renders/${id}`,
      headers: authorization(take(world.callers, i)),
    }),
  );
  const next = (index: number): Buffer => take(requests, index);
  const load = { connections: CONNECTIONS, seconds: SECONDS, status: 200, next };
  const rounds: { bare: LoadFigures; service: LoadFigures }[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const figures = {
      bare: await closedLoop({ ...load, port: bare.port }),
      service: await closedLoop({ ...load, port: api.port }),
    };
    say(
      `gets, ${round === 0 ? 'warm-up' : `round ${round} of ${ROUNDS}`}: ` +
        `${figures.service.per_second.toFixed(0)}/s, bare ${figures.bare.per_second.toFixed(0)}/s`,
    );
    if (round > 0) rounds.push(figures);
  }
  return {
    service: middle(rounds.map(({ service }) => service)),
    bare: middle(rounds.map((round) => round.bare)),
    of_bare: median(rounds.map((round) => round.service.per_second / round.bare.per_second)),
  };
}

/** Median over the rounds of every figure. */
function middle(rounds: readonly LoadFigures[]): LoadFigures {
  const of = (key: keyof LoadFigures): number => median(rounds.map((figures) => figures[key]));
  return { per_second: of('per_second'), p50_ms: of('p50_ms'), p99_ms: of('p99_ms') };
}

/** The API as it runs in production. */
async function startApi(world: World): Promise<Server> {
  const [port = 0, healthPort = 0] = await freePorts(2);
  const { stop } = await startProgram(world, {
    module: serviceMain('api'),
    url: `http://127.0.0.1:${port}/healthz`,
    env: {
      ...serviceEnvironment(world),
      NODE_ENV: 'production',
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
    },
  });
  return { port, stop };
}

/** The baseline: see bare-server.ts. */
async function startBareServer(world: World): Promise<Server> {
  const [port = 0] = await freePorts(1);
  const { stop } = await startProgram(world, {
    module: path.join(__dirname, 'bare-server.js'),
    url: `http://127.0.0.1:${port}/healthz`,
    env: { NODE_ENV: 'production', DATABASE_URL: world.databaseUrl, PORT: String(port) },
  });
  return { port, stop };
}

/**
 * Ends every open render, as workers would have done, and lets Postgres clean up the dead rows: a create counts its
 * customer's open renders, and no real customer has thousands.
 */
async function endOpenRenders({ sql }: World): Promise<void> {
  await sql.query(`UPDATE jobs SET status = 'finished', fence = fence + 1 WHERE status <> 'finished'`);
  for (const table of ['renders', 'engine_runs'])
    await sql.query(
      `UPDATE ${table} SET status = 'completed', stage = 'completed', progress_percent = 100
         ${table === 'renders' ? ', completed_at = now()' : ''}
       WHERE status IN ('accepted', 'processing')`,
    );
  await sql.query('VACUUM ANALYZE renders, engine_runs, jobs');
}

async function createOne({ port }: Server, caller: Caller): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/v1/renders`, {
    method: 'POST',
    headers: { ...authorization(caller), 'content-type': 'application/json' },
    body: JSON.stringify(renderRequest(caller)),
  });
  if (response.status !== 202) throw new Error(`a create was answered with ${response.status}`);
  return ((await response.json()) as { id: string }).id;
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

function take<T>(values: readonly T[], index: number): T {
  const value = values[index % values.length];
  if (value === undefined) throw new Error('there is nothing to take from');
  return value;
}
