// The command as an agent's host runs it, called by the SDK's own client.
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { type CallToolResult, Client, type ClientOptions, type Progress } from '@modelcontextprotocol/client';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { Ajv } from 'ajv';
import { API_KEY, OUTPUT, RENDER_ID, startScriptedService } from '../../test/scripted-service';
import { EXIT_CODES } from '../failures/exit-codes';
import { run } from '../run';

const COMPLETED = { status: 'completed', engines: [{ engine: 'musetalk', status: 'completed' }] } as const;
const at = (percent: number) =>
  ({ status: 'processing', engines: [{ engine: 'musetalk', status: 'processing', percent }] }) as const;
const LOOKING_FOR_FACES = {
  status: 'processing',
  engines: [{ engine: 'musetalk', status: 'processing', stage: 'loading_model', percent: 0 }],
} as const;
const FAILED = {
  status: 'failed',
  engines: [{ engine: 'musetalk', status: 'failed', code: 'no_face_detected' }],
} as const;

let service: Awaited<ReturnType<typeof startScriptedService>>;
let folder: string;
let closing: (() => Promise<unknown>)[];

beforeAll(async () => {
  service = await startScriptedService();
});
afterAll(() => service.close());
beforeEach(async () => {
  folder = await realpath(await mkdtemp(path.join(tmpdir(), 'cli-mcp-')));
  closing = [];
  await mkdir(path.join(folder, 'media'));
  for (const file of ['face.mp4', 'voice.wav']) await writeFile(path.join(folder, 'media', file), 'media');
  await writeFile(path.join(folder, 'outside.mp4'), 'private');
});
afterEach(async () => {
  for (const close of closing) await close();
  await rm(folder, { recursive: true, force: true });
});

const media = { video: 'face.mp4', audio: 'voice.wav' };

/** Starts the command with pipes, and a client at their other ends. */
async function startServer({ env, options }: { env?: Record<string, string>; options?: ClientOptions } = {}) {
  const pipes = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough() };
  let said = '';
  pipes.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const interruption = new AbortController();
  const exitCode = run(['mcp', '--root', path.join(folder, 'media')], {
    env: {
      ...{ XDG_CONFIG_HOME: folder, XDG_STATE_HOME: folder },
      ...(env ?? { LIPSYNC_API_KEY: API_KEY, LIPSYNC_BASE_URL: service.base }),
    },
    ...pipes,
    interrupted: interruption.signal,
  });
  const client = new Client({ name: 'test', version: '1' }, options);
  const strangers: Error[] = [];
  client.onerror = (error) => void strangers.push(error);
  // Lines out of one pipe and into the other, which is what a host does, too.
  await client.connect(new StdioServerTransport(pipes.stdout, pipes.stdin));
  const close = async () => {
    await client.close();
    pipes.stdin.end();
    return exitCode;
  };
  closing.push(close);
  // As hosts do. From then on the client refuses an answer that does not fit the output schema of its tool.
  const { tools } = await client.listTools();
  const call = async (name: string, args: object, callOptions: Parameters<Client['callTool']>[1] = {}) => {
    const result = await client.callTool({ name, arguments: { ...args } }, callOptions);
    expectStructured(result, tools.find((tool) => tool.name === name)?.outputSchema);
    return result;
  };
  return { client, call, close, exitCode, interruption, strangers, said: () => said };
}

const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true });

/** What clients of version 1 of the SDK demand: of errors, too, and they throw the whole answer away otherwise. */
function expectStructured({ structuredContent, isError }: CallToolResult, schema: object | undefined) {
  if (structuredContent === undefined) expect(isError).toBe(true);
  else {
    ajv.validate(schema ?? false, structuredContent);
    expect(ajv.errors).toBeNull();
  }
}

function textOf({ content }: CallToolResult): string {
  return content.map((item) => (item.type === 'text' ? item.text : '')).join('\n');
}

it.each([
  ['2025-11-25', {}],
  ['2026-07-28', { versionNegotiation: { mode: { pin: '2026-07-28' } } }],
] as const)(
  'renders and downloads by revision %s of the protocol, and ends with the host',
  async (revision, options) => {
    service.script(LOOKING_FOR_FACES, at(40), COMPLETED);
    const { client, call, close, strangers } = await startServer({ options });
    expect(client.getNegotiatedProtocolVersion()).toBe(revision);
    const progress: Progress[] = [];
    const rendered = await call(
      'render',
      { ...media, sync_mode: 'loop' },
      { onprogress: (told) => progress.push(told) },
    );
    expect(rendered).toMatchObject({
      isError: false,
      structuredContent: { record: { id: RENDER_ID, status: 'completed' } },
    });
    expect(textOf(rendered)).toContain(`call download with ${RENDER_ID}`);
    expect(
      JSON.parse(service.requests.find(({ name }) => name === 'POST /v1/renders')?.body ?? ''),
    ).toMatchObject({
      video: { asset_id: expect.any(String) as string },
      engines: ['musetalk'],
      sync_mode: 'loop',
    });

    const numbers = progress.map((told) => told.progress);
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
    expect(progress.at(-1)).toMatchObject({ total: 100, progress: 100 });
    const messages = progress.map(({ message }) => message);
    const shown = [`Created ${RENDER_ID}`, 'musetalk 0 %, processing', 'musetalk 40 %, processing'];
    expect(messages).toEqual(expect.arrayContaining(shown));

    const saved = await call('download', { id: RENDER_ID, to: 'out/' });
    const file = path.join(folder, 'media', 'out', `${RENDER_ID}.musetalk.mp4`);
    expect(saved.structuredContent).toMatchObject({
      files: [{ engine: 'musetalk', path: file }],
      not_saved: [],
    });
    expect(await readFile(file, 'utf8')).toBe(OUTPUT);
    const inputs = Object.values(media).map((name) => path.join(folder, 'media', name));
    expect((await call('list', {})).structuredContent).toMatchObject({
      made: [{ id: RENDER_ID, status: 'completed', inputs, engines: ['musetalk'], files: [file] }],
    });

    expect(await close()).toBe(EXIT_CODES.ok);
    expect(strangers).toEqual([]);
  },
);

it('describes its tools so that a host can tell what is safe', async () => {
  const { client } = await startServer();
  const { tools } = await client.listTools();
  expect(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations]))).toMatchObject({
    render: { readOnlyHint: false, destructiveHint: false },
    prepare: { readOnlyHint: false, destructiveHint: false },
    status: { readOnlyHint: true },
    wait: { readOnlyHint: true },
    list: { readOnlyHint: true, openWorldHint: false },
    cancel: { destructiveHint: true, idempotentHint: true },
    download: { destructiveHint: true },
    explain_error: { readOnlyHint: true },
  });
  for (const { inputSchema, outputSchema } of tools) {
    expect(inputSchema).toMatchObject({ additionalProperties: false });
    for (const property of Object.values(inputSchema.properties ?? {}))
      expect(property).toMatchObject({ description: expect.any(String) as string });
    expect(outputSchema).toBeDefined();
  }
});

it('returns at once, or when the time is over, and says how to go on', async () => {
  service.script(at(10));
  const { call } = await startServer();
  const started = await call('render', { ...media, wait_seconds: 0 });
  expect(started).toMatchObject({ isError: false, structuredContent: { record: { status: 'processing' } } });
  expect(service.names()).not.toContain(`GET /v1/renders/${RENDER_ID}`);
  const waited = await call('wait', { id: RENDER_ID, wait_seconds: 1 });
  expect(waited).toMatchObject({ isError: false, structuredContent: { record: { status: 'processing' } } });
  expect(textOf(waited)).toContain(`Call wait with ${RENDER_ID}`);
});

it('says of a failed render what the code means, what to do, and whether to repeat it', async () => {
  service.script(FAILED);
  const { call } = await startServer();
  const error = {
    code: 'no_face_detected',
    message: 'What the service says.',
    meaning: expect.stringContaining('No face was found') as string,
    what_to_do: expect.stringContaining('a face') as string,
    retryable: false,
  };
  const failed = await call('render', media);
  expect(failed).toMatchObject({
    isError: true,
    structuredContent: { record: { id: RENDER_ID, error: { code: error.code } }, next: error.what_to_do },
  });
  expect(textOf(failed)).toContain('no_face_detected');
  expect(await call('explain_error', { id: RENDER_ID })).toMatchObject({
    isError: false,
    structuredContent: { errors: [error, { ...error, engine: 'musetalk' }] },
  });
  expect(await call('status', { id: RENDER_ID })).toMatchObject({
    isError: false,
    structuredContent: { record: { id: RENDER_ID, error: { code: error.code } } },
  });
  expect((await call('explain_error', { code: 'rate_limit_exceeded' })).structuredContent).toMatchObject({
    errors: [{ retryable: true, http_status: 429, retry_after_seconds: 1, found_in: ['request'] }],
  });
});

it('answers every refusal as an error of the tool, not of the protocol', async () => {
  const { call } = await startServer({
    env: { LIPSYNC_BASE_URL: service.base, LIPSYNC_API_KEY: `svc_${'0'.repeat(64)}` },
  });
  service.script(COMPLETED);
  const refused = (code: string) => ({
    content: [{ type: 'text', text: expect.stringContaining(`(${code})`) as string }],
    isError: true,
  });
  expect(await call('status', { id: RENDER_ID })).toEqual(refused('invalid_api_key'));
  expect(await call('render', { ...media, video: 'missing.mp4' })).toEqual(refused('usage'));
  expect(await call('render', { ...media, speed: 2 })).toMatchObject({ isError: true });

  const keyless = await startServer({ env: {} });
  const answer = await keyless.call('status', { id: RENDER_ID });
  expect(answer).toEqual(refused('unauthorized'));
  expect(textOf(answer)).toContain('LIPSYNC_API_KEY');
});

it('reads and writes nothing outside of its folders, and replaces nothing unless it is told to', async () => {
  service.script(COMPLETED);
  await symlink(folder, path.join(folder, 'media', 'link'));
  const { call } = await startServer();
  const outside = [path.join(folder, 'outside.mp4'), '../outside.mp4', 'link/outside.mp4'];
  for (const video of outside)
    expect(textOf(await call('render', { ...media, video }))).toContain('outside the folders');
  expect(service.requests).toEqual([]);
  for (const to of [...outside, 'link/', '..', 'link/new/deep.mp4'])
    expect(textOf(await call('download', { id: RENDER_ID, to, overwrite: true }))).toContain(
      'outside the folders',
    );
  expect(await readFile(path.join(folder, 'outside.mp4'), 'utf8')).toBe('private');

  const inFace = { id: RENDER_ID, to: 'face.mp4' };
  expect(textOf(await call('download', inFace))).toContain('already exists');
  expect(textOf(await call('download', { id: RENDER_ID, to: 'voice.wav', overwrite: true }))).toContain(
    '.mp4',
  );
  expect(await readFile(path.join(folder, 'media', 'voice.wav'), 'utf8')).toBe('media');
  expect(await call('download', { ...inFace, overwrite: true })).toMatchObject({ isError: false });
  expect(await readFile(path.join(folder, 'media', 'face.mp4'), 'utf8')).toBe(OUTPUT);
  expect((await readdir(path.join(folder, 'media'))).sort()).toEqual(['face.mp4', 'link', 'voice.wav']);
});

it('stops waiting when the host cancels the call; the render goes on, and is found again', async () => {
  service.script(at(10));
  const { call, close, said } = await startServer();
  const cancelled = new AbortController();
  service.onRequest((name) => {
    if (name === `GET /v1/renders/${RENDER_ID}`) cancelled.abort('enough');
  });
  await expect(call('render', media, { signal: cancelled.signal })).rejects.toThrow('enough');
  expect((await call('list', {})).structuredContent).toMatchObject({ made: [{ id: RENDER_ID }] });
  expect(await close()).toBe(EXIT_CODES.ok);
  expect(said()).toContain(`${RENDER_ID} goes on`);
  expect(service.names()).not.toContain(`POST /v1/renders/${RENDER_ID}/cancel`);
});

it('cancels a render only when that is what was called', async () => {
  service.script(at(10));
  const { call } = await startServer();
  expect(await call('cancel', { id: RENDER_ID })).toMatchObject({
    isError: false,
    structuredContent: { record: { status: 'cancelled' } },
  });
});

it('ends when the system asks it to', async () => {
  const { interruption, exitCode } = await startServer();
  interruption.abort('SIGTERM');
  expect(await exitCode).toBe(EXIT_CODES.ok);
});
