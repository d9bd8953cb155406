import path from 'node:path';
import { createDb } from '@lipsync/db';
import { createSecretBox } from '@lipsync/runtime';
import { newCustomer, newKey } from '../admin/credentials';
import { createApiClient } from '../demo/api-client';
import { REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from '../local-stack/layout';
import { waitUntil } from '../local-stack/process-manager';
import { backendEnvironment } from '../local-stack/services';
import { createStack, type Stack } from '../local-stack/stack';
import { measureLoad, type LoadResult } from './http-load';

export interface ApiFigures {
  connections: number;
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

/** Loads the API of a stack of its own; the workers stand still meanwhile, so that only requests are measured. */
export async function benchApi(): Promise<ApiFigures> {
  const stack = createStack({ root: path.join(REPOSITORY_ROOT, '.local', `bench-${process.pid}`) });
  try {
    const { base_url } = await stack.up();
    const apiKey = await unlimitedKey(stack);
    const api = createApiClient({ baseUrl: base_url, apiKey });
    const video = await api.upload(SAMPLE_VIDEO, 'video', 'video/mp4');
    const audio = await api.upload(SAMPLE_AUDIO, 'audio', 'audio/wav');
    const bothReady = async () =>
      (await Promise.all([api.getAsset(video.id), api.getAsset(audio.id)])).every(
        ({ status }) => status === 'ready',
      );
    if (!(await waitUntil(bothReady, 60_000))) throw new Error('the sample media did not become ready');
    standStill(stack, 'gpu-worker', 'media-worker');

    const body = JSON.stringify({
      video: { asset_id: video.id },
      audio: { asset_id: audio.id },
      engines: ['musetalk'],
      sync_mode: 'cut_off',
    });
    const headers = { authorization: `Bearer ${apiKey}` };
    const { id } = await api.createRender({
      video: { asset_id: video.id },
      audio: { asset_id: audio.id },
      engines: ['musetalk'],
      sync_mode: 'cut_off',
    });
    const load = (next: Parameters<typeof measureLoad>[0]['next']) =>
      measureLoad({ connections: CONNECTIONS, count: REQUESTS, next });

    const health = await load(() => ({ method: 'GET', url: `${base_url}/healthz`, headers: {} }));
    const get = await load(() => ({ method: 'GET', url: `${base_url}/v1/renders/${id}`, headers }));
    const create = await load(() => ({
      method: 'POST',
      url: `${base_url}/v1/renders`,
      headers: { ...headers, 'content-type': 'application/json' },
      body,
    }));
    return {
      connections: CONNECTIONS,
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
  const env = backendEnvironment(state);
  const db = createDb({
    url: state.servers.postgresUrl,
    poolMax: 1,
    publicBaseUrl: env['PUBLIC_BASE_URL'] ?? '',
  });
  try {
    const context = { db, secretBox: createSecretBox(state.masterKey) };
    const limits = { postPerMinute: UNLIMITED, getPerMinute: UNLIMITED, activeRecordsMax: UNLIMITED };
    const { customer } = await newCustomer(context, 'bench', limits);
    const key = await newKey(context, customer.id);
    if (key === null) throw new Error('the new customer is gone');
    return key.apiKey;
  } finally {
    await db.close();
  }
}
