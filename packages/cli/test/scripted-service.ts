import { createServer, type IncomingMessage } from 'node:http';
import type { Engine, EngineResult, RenderRecord } from '@lipsync/client';
import { listenOnLoopback } from '@lipsync/testkit';

export const API_KEY = `svc_${'5e'.repeat(32)}`;
export const RENDER_ID = 'ren_01k3v9m5e8q4x7r2t6w0y1z3ab';
export const OUTPUT = 'the bytes of a video';

interface EngineState {
  engine: string;
  status: string;
  code?: string;
  message?: string;
  stage?: string;
  percent?: number;
}
/** What the service says of its render, one state after another; the last one repeats. */
export interface ScriptedState {
  status: RenderRecord['status'];
  engines: readonly EngineState[];
}

/** A service with one key and one render that goes through states as scripted. */
export async function startScriptedService() {
  const requests: { name: string; body: string }[] = [];
  const onRequest: ((name: string) => void)[] = [];
  let states: ScriptedState[] = [];
  let looks = 0;
  let outage: number | undefined;
  let isForgotten = false;

  function render(): RenderRecord {
    const state = states[Math.min(looks, states.length - 1)];
    if (state === undefined) throw new Error('no state was scripted');
    return recordOf(state, base);
  }

  function answer(name: string, request: IncomingMessage): [status: number, body: object | string] {
    if (name.startsWith('PUT /store/')) return [200, ''];
    if (name === 'GET /store/output') return [200, OUTPUT];
    if (name === 'GET /openapi.json') return [200, { info: { version: '1.2.3' } }];
    if (outage !== undefined) return [outage, '<html>Bad gateway</html>'];
    if (request.headers.authorization !== `Bearer ${API_KEY}`)
      return [401, refusal('invalid_api_key', 'Send a valid API key as a bearer token.')];
    if (name === 'POST /v1/uploads') return [201, upload(requests.length, base)];
    if (/^POST \/v1\/uploads\/.*\/complete$/.test(name)) return [202, asset(name.split('/')[3] ?? '')];
    if (name === 'POST /v1/renders') return [202, render()];
    if (name === `POST /v1/renders/${RENDER_ID}/cancel`)
      return [202, recordOf({ status: 'cancelled', engines: [] }, base)];
    if (name === `GET /v1/renders/${RENDER_ID}` && !isForgotten) {
      const body = render();
      looks++;
      return [200, body];
    }
    return [404, refusal('render_not_found', 'No render with this id exists for this API key.')];
  }

  const server = createServer((request, response) => {
    const name = `${request.method} ${request.url}`;
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => {
        requests.push({ name, body: Buffer.concat(chunks).toString() });
        for (const listener of onRequest) listener(name);
        const [status, body] = answer(name, request);
        response
          .writeHead(status, {
            'content-type': 'application/json',
            'x-request-id': 'req-1',
            'retry-after': '0',
          })
          .end(typeof body === 'string' ? body : JSON.stringify(body));
      });
  });
  const base = `http://127.0.0.1:${await listenOnLoopback(server)}`;
  return {
    base,
    requests,
    names: () => requests.map(({ name }) => name),
    /** Called with every request before it is answered. */
    onRequest: (listener: (name: string) => void) => void onRequest.push(listener),
    /** From now on something in front of the service answers. */
    fail(status: number) {
      outage = status;
    },
    /** From now on the service knows no render. */
    forget() {
      isForgotten = true;
    },
    script(...next: ScriptedState[]) {
      states = next;
      looks = 0;
      outage = undefined;
      isForgotten = false;
      requests.length = 0;
      onRequest.length = 0;
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

function resultOf(
  { engine, status, code, message, stage, percent }: EngineState,
  base: string,
): EngineResult {
  const common = {
    engine: engine as Engine,
    stage: stage ?? status,
    progress_percent: percent ?? 10,
    usage: {},
  };
  if (status === 'failed') return { ...common, status, error: errorOf(code ?? 'engine_failed', message) };
  if (status !== 'completed') return { ...common, status: status as 'processing' };
  const output = { url: `${base}/store/output`, expires_at: '2099-01-01T00:00:00.000Z' };
  return { ...common, status, progress_percent: percent ?? 100, output };
}

const CREATED_AT = '2026-01-01T00:00:00.000Z';

function recordOf({ status, engines }: ScriptedState, base: string): RenderRecord {
  const failed = engines.find(({ code }) => code !== undefined);
  return {
    id: RENDER_ID,
    status,
    stage: status,
    progress_percent: status === 'completed' ? 100 : 10,
    video_asset_id: 'ast_01k3v9m5e8q4x7r2t6w0y1z3ab',
    audio_asset_id: 'ast_01k3v9m5e8q4x7r2t6w0y1z3ac',
    sync_mode: 'cut_off',
    engines: engines.map((engine) => resultOf(engine, base)),
    ...(status === 'failed' && { error: errorOf(failed?.code ?? 'engine_failed', failed?.message) }),
    created_at: CREATED_AT,
    updated_at: CREATED_AT,
    expires_at: '2099-01-01T00:00:00.000Z',
    status_url: `${base}/v1/renders/${RENDER_ID}`,
  };
}

function errorOf(code: string, message = 'What the service says.') {
  return { code, message, retryable: false };
}

function upload(number: number, base: string): object {
  const id = `upl_${number}`;
  return {
    id,
    asset_id: `ast_${number}`,
    status: 'awaiting_upload',
    upload_url: `${base}/store/${id}`,
    expires_at: '2099-01-01T00:00:00.000Z',
    method: 'PUT',
    required_headers: {},
    complete_url: `${base}/v1/uploads/${id}/complete`,
  };
}

function asset(uploadId: string): object {
  return {
    id: uploadId.replace('upl_', 'ast_'),
    media_type: 'video',
    status: 'pending',
    stage: 'queued',
    media: { size_bytes: 1, duration_seconds: 0, codec: 'unknown' },
    created_at: CREATED_AT,
    expires_at: '2099-01-01T00:00:00.000Z',
  };
}

function refusal(code: string, message: string): object {
  return { error: errorOf(code, message) };
}
