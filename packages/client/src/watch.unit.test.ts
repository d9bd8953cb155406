import { AssetFailed, LipSync, PreparationFailed, RenderCancelled, RenderFailed, type RenderRecord } from '.';
import { API_KEY, completed, render } from './test/answers';
import { refusal, type Reply, type ScriptedServer, startScriptedServer } from './test/scripted-server';

let server: ScriptedServer;

// No pause before a repetition that the service does not ask for.
beforeEach(() => jest.spyOn(Math, 'random').mockReturnValue(0));
afterEach(async () => {
  jest.restoreAllMocks();
  await server.close();
});

async function start(path: string, replies: (base: string) => readonly Reply[]) {
  server = await startScriptedServer((base) => ({ [`GET ${path}`]: replies(base) }));
  return new LipSync({ apiKey: API_KEY, baseUrl: server.base, maxRetries: 0 });
}

const now = (body: object): Reply => ({ status: 200, body, headers: { 'retry-after': '0' } });
const error = { code: 'no_face_detected', message: 'No face was found.', retryable: false };

it('shows every change once, through outages, until the last', async () => {
  const at = (percent: number, updated = '2026') =>
    now(render({ progress_percent: percent, updated_at: updated }));
  const client = await start('/v1/renders/ren_1', (base) => [
    at(10),
    at(10, '2027'),
    'cut',
    refusal(503, 'service_unavailable', true),
    at(30),
    at(30),
    now(completed(base, '/file')),
  ]);
  const seen: number[] = [];
  for await (const { progress_percent: percent } of client.renders.watch('ren_1')) seen.push(percent);
  expect(seen).toEqual([10, 30, 40]);
  expect(server.requests).toHaveLength(7);
});

it('waits for a render that was just created, and tells its changes', async () => {
  const client = await start('/v1/renders/ren_1', (base) => [now(render()), now(completed(base, '/file'))]);
  const changes: string[] = [];
  const onChange = ({ status }: RenderRecord) => changes.push(status);
  const record = await client.renders.wait(render() as unknown as RenderRecord, { onChange });
  expect(record.status).toBe('completed');
  expect(changes).toEqual(['processing', 'completed']);
});

it('fails with the code of what failed', async () => {
  const renders = await start('/v1/renders/ren_1', () => [now(render({ status: 'failed', error }))]);
  const failure: unknown = await renders.renders.wait('ren_1').catch((reason: unknown) => reason);
  expect(failure).toBeInstanceOf(RenderFailed);
  expect(failure).toMatchObject({
    code: 'no_face_detected',
    retryable: false,
    record: { id: 'ren_1' },
    message: 'Render ren_1 failed: No face was found. (no_face_detected)',
  });
  await server.close();

  const cancelled = await start('/v1/renders/ren_1', () => [now(render({ status: 'cancelled' }))]);
  await expect(cancelled.renders.wait('ren_1')).rejects.toBeInstanceOf(RenderCancelled);
  await server.close();

  const preparations = await start('/v1/preparations/prp_1', () => [
    now({ id: 'prp_1', status: 'failed', error }),
  ]);
  await expect(preparations.preparations.wait('prp_1')).rejects.toBeInstanceOf(PreparationFailed);
  await server.close();

  const assets = await start('/v1/assets/ast_1', () => [
    now({ id: 'ast_1', status: 'awaiting_upload' }),
    now({ id: 'ast_1', status: 'failed', error: { ...error, code: 'media_corrupt' } }),
  ]);
  await expect(assets.assets.wait('ast_1')).rejects.toBeInstanceOf(AssetFailed);
});

it('does not ask on when the resource is not there', async () => {
  const client = await start('/v1/renders/ren_1', () => [refusal(410, 'render_expired', false)]);
  await expect(client.renders.wait('ren_1')).rejects.toMatchObject({ code: 'render_expired' });
  expect(server.requests).toHaveLength(1);
});

it('stops waiting when the time is over, or the signal says so', async () => {
  const client = await start('/v1/renders/ren_1', () => [
    { status: 200, body: render(), headers: { 'retry-after': '3600' } },
  ]);
  await expect(client.renders.wait('ren_1', { timeoutMs: 50 })).rejects.toMatchObject({
    name: 'TimeoutError',
  });
  const controller = new AbortController();
  const reason = new Error('enough');
  const onChange = () => controller.abort(reason);
  await expect(client.renders.wait('ren_1', { signal: controller.signal, onChange })).rejects.toBe(reason);
});
