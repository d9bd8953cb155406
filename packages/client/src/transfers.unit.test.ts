import { EventEmitter, once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ConnectionError, type Fetch, LipSync } from '.';
import { LipSync as EdgeLipSync } from './browser';
import { API_KEY, asset, completed, render, upload } from './test/answers';
import { refusal, type Reply, type ScriptedServer, startScriptedServer } from './test/scripted-server';

const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251));
const PAST = '2026-01-01T00:00:00.000Z';

let server: ScriptedServer;
let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'client-'));
  file = path.join(folder, 'face.mp4');
  await writeFile(file, BYTES);
  // No pause before a repetition that the service does not ask for.
  jest.spyOn(Math, 'random').mockReturnValue(0);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await server.close();
  await rm(folder, { recursive: true });
});

async function start(script: Parameters<typeof startScriptedServer>[0]) {
  server = await startScriptedServer(script);
  return new LipSync({ apiKey: API_KEY, baseUrl: server.base });
}

describe('an upload', () => {
  it('sends a file with exactly the required headers, again in full when the connection breaks', async () => {
    const client = await start((base) => ({
      'POST /v1/uploads': [upload(base, 'upl_1', BYTES.length)],
      'PUT /store/upl_1': ['cut', { status: 500 }, { status: 200 }],
      'POST /v1/uploads/upl_1/complete': ['cut', asset('ast_of_upl_1')],
    }));
    const progress: number[] = [];
    const made = await client.uploads.create(file, {
      mediaType: 'video',
      onProgress: (sent, total) => progress.push(sent / total),
    });
    expect(made).toMatchObject({ id: 'ast_of_upl_1', status: 'pending' });
    expect(JSON.parse(String(server.requests[0]?.body))).toEqual({
      media_type: 'video',
      content_type: 'video/mp4',
      size_bytes: BYTES.length,
    });
    const puts = server.named('PUT /store/upl_1');
    expect(puts).toHaveLength(3);
    expect(puts[2]?.body.equals(BYTES)).toBe(true);
    expect(puts[2]?.headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': String(BYTES.length),
    });
    expect(puts[2]?.headers).not.toHaveProperty('authorization');
    expect(progress.filter((share) => share === 0)).toHaveLength(3);
    expect(progress.at(-1)).toBe(1);
  });

  it.each([
    ['has expired by this clock', PAST, []],
    ['has expired by the clock of the store', undefined, [{ status: 403 }]],
  ])('gets a new address when the first one %s', async (_, expiresAt, firstPut: Reply[]) => {
    const client = await start((base) => ({
      'POST /v1/uploads': [upload(base, 'upl_1', 300_000, expiresAt), upload(base, 'upl_2', 300_000)],
      'PUT /store/upl_1': firstPut,
      'PUT /store/upl_2': [{ status: 200 }],
      'POST /v1/uploads/upl_2/complete': [asset('ast_of_upl_2')],
    }));
    const made = await client.uploads.create(new Blob([BYTES], { type: 'video/mp4' }), {
      mediaType: 'video',
    });
    expect(made.id).toBe('ast_of_upl_2');
    expect(server.named('PUT /store/upl_2')[0]?.body.equals(BYTES)).toBe(true);
  });

  it('stops at a store that refuses every address', async () => {
    const denied: Reply = { status: 403, body: Buffer.from('<Error><Code>AccessDenied</Code></Error>') };
    const client = await start((base) => ({
      'POST /v1/uploads': [upload(base, 'upl_1', BYTES.length)],
      'PUT /store/upl_1': [denied],
    }));
    await expect(client.uploads.create(file, { mediaType: 'video' })).rejects.toThrow('403 (AccessDenied)');
    expect(server.named('PUT /store/upl_1')).toHaveLength(2);
  });

  it('sends a stream once, because it cannot be read again', async () => {
    const client = await start((base) => ({
      'POST /v1/uploads': [upload(base, 'upl_1', BYTES.length)],
      'PUT /store/upl_1': ['cut', { status: 200 }],
    }));
    const source = { stream: new Blob([BYTES]).stream(), size: BYTES.length, contentType: 'video/mp4' };
    await expect(client.uploads.create(source, { mediaType: 'video' })).rejects.toBeInstanceOf(
      ConnectionError,
    );
    expect(server.named('PUT /store/upl_1')).toHaveLength(1);
  });
});

it('sends Blobs and streams at the edge, where there are no files and no progress', async () => {
  server = await startScriptedServer((base) => ({
    'POST /v1/uploads': [upload(base, 'upl_1', BYTES.length)],
    'PUT /store/upl_1': [{ status: 200 }],
    'POST /v1/uploads/upl_1/complete': [asset('ast_of_upl_1')],
  }));
  const client = new EdgeLipSync({ apiKey: API_KEY, baseUrl: server.base });
  const blob = new Blob([BYTES], { type: 'video/mp4' });
  for (const source of [blob, { stream: blob.stream(), size: blob.size, contentType: blob.type }])
    await client.uploads.create(source, { mediaType: 'video' });
  const puts = server.named('PUT /store/upl_1');
  expect(puts.map(({ body }) => body.equals(BYTES))).toEqual([true, true]);
  await expect(client.uploads.create(file, { mediaType: 'video' })).rejects.toThrow('pass a File');
});

it.each(['file://', 'data:video/mp4,'])(
  'opens no address but http and https, whatever the service names: %s',
  async (store) => {
    const asked: string[] = [];
    const fetch: Fetch = (url, init) => {
      asked.push(new URL(url).protocol);
      return globalThis.fetch(url, init);
    };
    server = await startScriptedServer(() => ({
      'GET /v1/renders/ren_1': [{ status: 200, body: completed(store, '/file') }],
      'POST /v1/uploads': [upload(store, 'upl_1', BYTES.length)],
    }));
    const client = new LipSync({ apiKey: API_KEY, baseUrl: server.base, fetch });
    await expect(client.outputs.download('ren_1', 'musetalk')).rejects.toThrow('neither http nor https');
    const uploading = client.uploads.create(file, { mediaType: 'video' });
    await expect(uploading).rejects.toThrow('neither http nor https');
    expect(asked).toEqual(['http:', 'http:']);
  },
);

it('sends and takes bytes only where the service said, wherever the store redirects', async () => {
  const elsewhere = await startScriptedServer(() => ({}));
  const moved: Reply = {
    status: 307,
    headers: { location: `${elsewhere.base}/bucket/file?signature=secret` },
  };
  const client = await start((base) => ({
    'GET /v1/renders/ren_1': [{ status: 200, body: completed(base, '/file') }],
    'GET /file': [moved],
    'POST /v1/uploads': [upload(base, 'upl_1', BYTES.length)],
    'PUT /store/upl_1': [moved],
  }));
  const where = `307 (it moved to ${elsewhere.base}/bucket/file)`;
  await expect(client.outputs.download('ren_1', 'musetalk')).rejects.toThrow(where);
  await expect(client.uploads.create(file, { mediaType: 'video' })).rejects.toThrow(where);
  expect(elsewhere.requests).toEqual([]);
  await elsewhere.close();
});

it('creates a render of local files, and ends one upload when the other is refused', async () => {
  const video = new EventEmitter();
  const [begun, ended] = [once(video, 'begun'), once(video, 'ended')];
  const client = await start((base) => ({
    'POST /v1/uploads': [
      (response, { body }) => {
        const { media_type: mediaType } = JSON.parse(body.toString()) as { media_type: string };
        if (mediaType === 'video') {
          response.on('close', () => video.emit('ended'));
          video.emit('begun');
          return;
        }
        const { status, body: refused } = refusal(400, 'unsupported_content_type', false) as {
          status: number;
          body: object;
        };
        // Not before there is an upload to end.
        void begun.then(() => response.writeHead(status).end(JSON.stringify(refused)));
      },
    ],
    'POST /v1/renders': [{ status: 202, body: render(completed(base, '/x')) }],
  }));
  const creating = client.renders.create({
    video: file,
    audio: new Blob([BYTES], { type: 'audio/wav' }),
    engines: ['musetalk'],
    sync_mode: 'loop',
  });
  await expect(creating).rejects.toMatchObject({ code: 'unsupported_content_type' });
  expect(server.named('POST /v1/renders')).toHaveLength(0);
  await expect(ended).resolves.toEqual([]);
});

describe('a download', () => {
  const whole: Reply = (response) =>
    response.writeHead(200, { 'content-length': BYTES.length, etag: '"one"' }).end(BYTES);
  /** Sends a part of what it announced. */
  const broken: Reply = (response) => {
    response.writeHead(200, { 'content-length': BYTES.length, etag: '"one"' });
    response.write(BYTES.subarray(0, 100_000), () => setImmediate(() => response.destroy()));
  };
  const rest =
    (etag: string): Reply =>
    (response, { headers }) => {
      const from = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1]);
      response.writeHead(206, { 'content-length': BYTES.length - from, etag }).end(BYTES.subarray(from));
    };

  it('continues where the connection broke, at a new address when the first was refused', async () => {
    const client = await start((base) => ({
      'GET /v1/renders/ren_1': [{ status: 200, body: completed(base, '/second') }],
      'GET /first': [broken, { status: 403 }],
      'GET /second': [rest('"one"')],
    }));
    const target = path.join(folder, 'result.mp4');
    const received: number[] = [];
    await client.outputs.download(completed(server.base, '/first') as never, 'musetalk', target, {
      onProgress: (bytes) => received.push(bytes),
    });
    expect((await readFile(target)).equals(BYTES)).toBe(true);
    const [request] = server.named('GET /second');
    expect(request?.headers).toMatchObject({ 'if-range': '"one"' });
    expect(request?.headers.range).toMatch(/^bytes=[1-9]\d*-$/);
    expect(request?.headers).not.toHaveProperty('authorization');
    expect(received).toEqual([...received].sort((a, b) => a - b));
  });

  it('passes over what is there already when the store sends everything again', async () => {
    const client = await start((base) => ({
      'GET /v1/renders/ren_1': [{ status: 200, body: completed(base, '/file') }],
      'GET /file': [broken, whole],
    }));
    const blob = await client.outputs.download('ren_1', 'musetalk');
    expect(Buffer.from(await blob.arrayBuffer()).equals(BYTES)).toBe(true);
  });

  it('asks for a fresh address when the record’s has expired', async () => {
    const client = await start((base) => ({
      'GET /v1/renders/ren_1': [{ status: 200, body: completed(base, '/fresh') }],
      'GET /fresh': [whole],
    }));
    const old = completed(server.base, '/old', PAST) as never;
    await expect(client.outputs.download(old, 'musetalk')).resolves.toMatchObject({ size: BYTES.length });
  });

  it('ends at once when no fresh address is to be had', async () => {
    const client = await start((base) => ({
      'GET /v1/renders/ren_1': [
        { status: 200, body: completed(base, '/old') },
        refusal(410, 'render_expired', false),
      ],
      'GET /old': [{ status: 403 }],
    }));
    const record = await client.renders.get('ren_1');
    await expect(client.outputs.download(record, 'musetalk')).rejects.toMatchObject({
      code: 'render_expired',
    });
    expect(server.named('GET /v1/renders/ren_1')).toHaveLength(2);
  });

  it('looks up what the record that create() returned does not have yet', async () => {
    const client = await start((base) => ({
      'POST /v1/renders': [{ status: 202, body: render({ status: 'accepted' }) }],
      'GET /v1/renders/ren_1': [{ status: 200, body: completed(base, '/file') }],
      'GET /file': [whole],
    }));
    const created = await client.renders.create({
      video: 'https://media.example.com/talk.mp4',
      audio: 'https://media.example.com/voice.wav',
      engines: ['musetalk'],
      sync_mode: 'loop',
    });
    await expect(client.outputs.download(created, 'musetalk')).resolves.toMatchObject({ size: BYTES.length });
  });

  it('leaves no file when the bytes changed in between', async () => {
    const client = await start((base) => ({
      'GET /v1/renders/ren_1': [{ status: 200, body: completed(base, '/file') }],
      'GET /file': [broken, rest('"two"')],
    }));
    const downloading = client.outputs.download('ren_1', 'musetalk', path.join(folder, 'result.mp4'));
    await expect(downloading).rejects.toThrow('changed');
    expect(await readdir(folder)).toEqual(['face.mp4']);
  });

  it('says why an engine has no output', async () => {
    const engine = {
      engine: 'musetalk',
      status: 'failed',
      error: { code: 'engine_failed', message: 'It failed.' },
    };
    const client = await start(() => ({
      'GET /v1/renders/ren_1': [{ status: 200, body: render({ engines: [engine] }) }],
    }));
    await expect(client.outputs.download('ren_1', 'musetalk')).rejects.toThrow(
      'musetalk is failed: It failed. (engine_failed)',
    );
    await expect(client.outputs.download('ren_1', 'highsync')).rejects.toThrow('not asked for');
  });
});
