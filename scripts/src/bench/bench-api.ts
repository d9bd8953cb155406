import path from 'node:path';
import type { RenderRequest } from '@lipsync/contract';
import { createApiClient } from '../demo/api-client';
import { REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from '../local-stack/layout';
import { provisionCustomer } from '../local-stack/provision';
import { createStack, type Stack } from '../local-stack/stack';
import { waitUntil } from '../local-stack/wait-until';
import { measureLoad, type LoadResult } from './http-load';

export interface ApiFigures {
  connections: number;
  customers: number;
  health: LoadResult;
  get_render: LoadResult;
  create_render: LoadResult;
  /** Requests per second over those of /healthz, in the same run. */
  get_render_of_health: number;
  create_render_of_health: number;
}

const CONNECTIONS = 16;
const REQUESTS = 2_000;
const UNLIMITED = 100_000_000;
/** One customer's creates wait for each other (its limit of active records is counted under a lock); several do not. */
const CUSTOMERS = 4;

/** Loads the API of a stack of its own; the workers stand still meanwhile, so that only requests are measured. */
export async function benchApi(): Promise<ApiFigures> {
  const stack = createStack({ root: path.join(REPOSITORY_ROOT, '.local', `bench-${process.pid}`) });
  try {
    const { base_url } = await stack.up();
    const callers = await Promise.all(
      Array.from({ length: CUSTOMERS }, () => prepareCaller(stack, base_url)),
    );
    standStill(stack, 'gpu-worker', 'media-worker');
    const caller = (index: number) => callers[index % CUSTOMERS] ?? unreachable();
    const load = (next: Parameters<typeof measureLoad>[0]['next']) =>
      measureLoad({ connections: CONNECTIONS, count: REQUESTS, next });

    const health = await load(() => ({ method: 'GET', url: `${base_url}/healthz`, headers: {} }));
    const get = await load((index) => {
      const { headers, renderId } = caller(index);
      return { method: 'GET', url: `${base_url}/v1/renders/${renderId}`, headers };
    });
    const create = await load((index) => {
      const { headers, request } = caller(index);
      return { method: 'POST', url: `${base_url}/v1/renders`, headers, body: JSON.stringify(request) };
    });
    return {
      connections: CONNECTIONS,
      customers: CUSTOMERS,
      health,
      get_render: get,
      create_render: create,
      get_render_of_health: get.requestsPerSecond / health.requestsPerSecond,
      create_render_of_health: create.requestsPerSecond / health.requestsPerSecond,
    };
  } finally {
    await stack.down();
    stack.erase();
  }
}

interface Caller {
  headers: Record<string, string>;
  request: RenderRequest;
  /** A render of this caller that exists. */
  renderId: string;
}

/** A customer without limits whose media is ready. */
async function prepareCaller(stack: Stack, baseUrl: string): Promise<Caller> {
  const apiKey = await unlimitedKey(stack);
  const api = createApiClient({ baseUrl, apiKey });
  const video = await api.upload(SAMPLE_VIDEO, 'video', 'video/mp4');
  const audio = await api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav');
  const bothReady = async () =>
    (await Promise.all([api.getAsset(video.id), api.getAsset(audio.id)])).every(
      ({ status }) => status === 'ready',
    );
  if (!(await waitUntil(bothReady, 60_000))) throw new Error('the sample media did not become ready');
  const request: RenderRequest = {
    video: { asset_id: video.id },
    audio: { asset_id: audio.id },
    engines: ['musetalk'],
    sync_mode: 'cut_off',
  };
  const { id: renderId } = await api.createRender(request);
  return {
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    request,
    renderId,
  };
}

function unreachable(): never {
  throw new Error('there are no callers');
}

/** Without a goodbye: a worker that takes its leave would make its engine unavailable. */
function standStill(stack: Stack, ...names: string[]): void {
  for (const name of names) {
    const pid = stack.findPid(name);
    if (pid !== null) process.kill(pid, 'SIGKILL');
  }
}

async function unlimitedKey(stack: Stack): Promise<string> {
  const state = stack.state();
  if (state === null) throw new Error('the stack has no state');
  const limits = { postPerMinute: UNLIMITED, getPerMinute: UNLIMITED, activeRecordsMax: UNLIMITED };
  return (await provisionCustomer(state, 'bench', limits)).api_key;
}
