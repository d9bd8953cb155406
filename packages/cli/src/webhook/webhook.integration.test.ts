import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { verifyWebhook } from '@lipsync/client';
import { listenOnLoopback } from '@lipsync/testkit';
import { runCommand } from '../../test/run-command';
import { API_KEY, RENDER_ID, startScriptedService } from '../../test/scripted-service';
import { EXIT_CODES } from '../failures/exit-codes';
import type { Attempt } from './deliver';
import { EVENT_TYPES } from './events';

const COMPLETED = { status: 'completed', engines: [{ engine: 'musetalk', status: 'completed' }] } as const;
const PROCESSING = { status: 'processing', engines: [{ engine: 'musetalk', status: 'processing' }] } as const;
const VIDEO = 'ast_01k3v9m5e8q4x7r2t6w0y1z3ab';
const VOICE = 'ast_01k3v9m5e8q4x7r2t6w0y1z3ac';

let service: Awaited<ReturnType<typeof startScriptedService>>;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let folder: string;

beforeAll(async () => {
  [service, receiver] = await Promise.all([startScriptedService(), startReceiver()]);
});
afterAll(() => Promise.all([service.close(), receiver.close()]));
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cli-webhook-'));
  receiver.answer(200);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** A receiver on this machine: it keeps what it got, and answers with the given statuses, the last again and again. */
async function startReceiver() {
  const got: { headers: IncomingMessage['headers']; rawHeaders: string[]; body: string }[] = [];
  let statuses: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .once('end', () => {
        const { headers, rawHeaders } = request;
        got.push({ headers, rawHeaders, body: Buffer.concat(chunks).toString() });
        const status = (statuses.length > 1 ? statuses.shift() : statuses[0]) ?? 500;
        response.writeHead(status, { 'retry-after': '0' }).end(`it says ${status}`);
      });
  });
  const url = `http://127.0.0.1:${await listenOnLoopback(server)}/hook`;
  return {
    url,
    got,
    answer(...next: number[]) {
      statuses = next;
      got.length = 0;
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

const command = (args: string[], more: Partial<Parameters<typeof runCommand>[1]> = {}) =>
  runCommand(args, {
    folder,
    ...more,
    env: { LIPSYNC_API_KEY: API_KEY, LIPSYNC_BASE_URL: service.base, ...more.env },
  });
const secret = async () => (await command(['webhook', 'secret'])).stdout.trim();
const listen = (...args: string[]) => command(['webhook', 'listen', '--forward', receiver.url, ...args]);
const deliveriesOf = (stdout: string) => (JSON.parse(stdout) as { deliveries: Attempt[] }).deliveries;

describe('webhook listen', () => {
  it('posts the end of a render, with the headers of the service, signed with the secret that it prints', async () => {
    service.script(PROCESSING, COMPLETED);
    const { exitCode, stdout, stderr } = await listen('--render', RENDER_ID);
    expect(exitCode).toBe(EXIT_CODES.ok);
    const [delivery] = receiver.got;
    expect(delivery?.rawHeaders.filter((_, i) => i % 2 === 0)).toEqual([
      'content-type',
      'user-agent',
      'accept-encoding',
      'Svc-Event-ID',
      'Svc-Delivery-ID',
      'Svc-Signature',
      'Host',
      'Connection',
      'Content-Length',
    ]);
    const [, printed = ''] = /LIPSYNC_WEBHOOK_SECRET=([0-9a-f]{64})$/m.exec(stderr) ?? [];
    expect(printed).toBe(await secret());
    const event = await verifyWebhook(delivery?.body ?? '', delivery?.headers ?? {}, printed);
    expect(event).toMatchObject({ type: 'render.completed', data: { id: RENDER_ID } });
    expect(event.id).toBe(delivery?.headers['svc-event-id']);
    expect(stdout).toMatch(
      new RegExp(`^[\\d:]{8}  render\\.completed  ${RENDER_ID}  → 200 in \\d+ ms: it says 200\\n$`),
    );
  });

  it('tries once more, as the same delivery, and says so', async () => {
    service.script(COMPLETED);
    receiver.answer(500, 204);
    const { exitCode, stdout, stderr } = await listen('--render', RENDER_ID, '--json');
    expect(exitCode).toBe(EXIT_CODES.ok);
    const deliveries = deliveriesOf(stdout);
    expect(deliveries).toMatchObject([
      { status: 500, answer: 'it says 500', delivered: false },
      { status: 204, delivered: true, delivery_id: deliveries[0]?.delivery_id },
    ]);
    expect(stderr).toContain('Sending it once more in 0 s.');
  });

  it('fails when the receiver refuses the end of what was named', async () => {
    service.script(COMPLETED);
    receiver.answer(302);
    const { exitCode, stdout, stderr } = await listen('--render', RENDER_ID, '--print', 'json');
    expect(exitCode).toBe(EXIT_CODES.failed);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => (JSON.parse(line) as Attempt).status),
    ).toEqual([302, 302]);
    expect(stderr).toContain('error: 0 of 1 events were delivered.');
  });

  it('fails when one of those that were named is not known', async () => {
    service.script(COMPLETED);
    const unknown = RENDER_ID.replace(/.$/, 'z');
    const { exitCode, stderr } = await listen(
      '--render',
      RENDER_ID,
      '--render',
      unknown,
      '--render',
      RENDER_ID,
    );
    expect(exitCode).toBe(EXIT_CODES.failed);
    expect(stderr).toContain('error: 1 of 2 events were delivered.');
  });

  it('follows what other commands make with the same key, until Ctrl-C, which is a good end', async () => {
    service.script(PROCESSING, COMPLETED);
    const interruption = new AbortController();
    const onOutput = () => interruption.abort('SIGINT');
    const listening = command(['webhook', 'listen', '--forward', receiver.url], { interruption, onOutput });
    await command(['render', VIDEO, VOICE, '--no-wait']);
    const { exitCode, stdout } = await listening;
    expect(exitCode).toBe(EXIT_CODES.ok);
    expect(stdout).toContain(RENDER_ID);
    // Whoever listens again is not told again.
    service.requests.length = 0;
    const { stdout: list } = await command(['list', '--json']);
    expect(JSON.parse(list)).toMatchObject([{ id: RENDER_ID, status: 'completed' }]);
    expect(service.requests).toEqual([]);
  });

  it('ends when the service does not accept the key', async () => {
    service.script(PROCESSING);
    const env = { LIPSYNC_API_KEY: `svc_${'00'.repeat(32)}` };
    await command(['render', VIDEO, VOICE, '--no-wait']);
    const args = ['webhook', 'listen', '--forward', receiver.url, '--render', RENDER_ID];
    expect(await command(args, { env })).toMatchObject({ exitCode: EXIT_CODES.unauthorized });
  });

  it.each([
    ['--render', VIDEO],
    ['--render', 'what'],
    ['--forward', 'localhost'],
  ])('sends nothing for %s %s', async (...args) => {
    service.script(COMPLETED);
    expect(await listen(...args)).toMatchObject({ exitCode: EXIT_CODES.usage });
    expect(service.requests).toEqual([]);
  });
});

describe('webhook send', () => {
  it.each(EVENT_TYPES)('posts an example of %s that the client verifies', async (type) => {
    const { exitCode } = await command(['webhook', 'send', '--type', type, '--to', receiver.url]);
    expect(exitCode).toBe(EXIT_CODES.ok);
    const [{ body, headers } = { body: '', headers: {} }] = receiver.got;
    expect(await verifyWebhook(body, headers, await secret())).toMatchObject({ type });
  });

  it('signs with the secret that is named', async () => {
    const env = { LIPSYNC_WEBHOOK_SECRET: 'ab'.repeat(32) };
    const { stderr } = await command(['webhook', 'send', '--to', receiver.url], { env });
    const [{ body, headers } = { body: '', headers: {} }] = receiver.got;
    await expect(verifyWebhook(body, headers, env.LIPSYNC_WEBHOOK_SECRET)).resolves.toBeDefined();
    // It may be that of the service.
    expect(stderr).not.toContain(env.LIPSYNC_WEBHOOK_SECRET);
  });

  it('says what the receiver answered, or that there is none', async () => {
    receiver.answer(400);
    expect(await command(['webhook', 'send', '--to', receiver.url])).toMatchObject({
      exitCode: EXIT_CODES.failed,
      stdout: expect.stringContaining('→ 400') as string,
    });
    expect(await command(['webhook', 'send', '--to', 'http://127.0.0.1:1'])).toMatchObject({
      exitCode: EXIT_CODES.failed,
      stdout: expect.stringContaining('→ nothing is listening there') as string,
    });
  });

  it('refuses a secret that is none before it sends anything', async () => {
    const env = { LIPSYNC_WEBHOOK_SECRET: 'abc' };
    expect(await command(['webhook', 'send', '--to', receiver.url], { env })).toMatchObject({
      exitCode: EXIT_CODES.usage,
      stderr: expect.stringContaining('LIPSYNC_WEBHOOK_SECRET does not hold a signing secret.') as string,
    });
    expect(receiver.got).toEqual([]);
  });
});
