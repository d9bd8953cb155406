import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runCommand } from '../test/run-command';
import { API_KEY, OUTPUT, RENDER_ID, startScriptedService } from '../test/scripted-service';
import { EXIT_CODES } from './failures/exit-codes';

const COMPLETED = { status: 'completed', engines: [{ engine: 'musetalk', status: 'completed' }] } as const;
const PROCESSING = { status: 'processing', engines: [{ engine: 'musetalk', status: 'processing' }] } as const;

let service: Awaited<ReturnType<typeof startScriptedService>>;
let folder: string;
let media: string[];

beforeAll(async () => {
  service = await startScriptedService();
});
afterAll(() => service.close());
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cli-run-'));
  media = [path.join(folder, 'face.mp4'), path.join(folder, 'voice.wav')];
  for (const file of media) await writeFile(file, 'media');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const command = (args: string[], more: Partial<Parameters<typeof runCommand>[1]> = {}) =>
  runCommand(args, { folder, env: { LIPSYNC_API_KEY: API_KEY, LIPSYNC_BASE_URL: service.base }, ...more });

const renderMedia = (...args: string[]) => ['render', ...media, '--out', `${folder}/`, ...args];
const result = (engine = 'musetalk') => path.join(folder, `face.${engine}.mp4`);

describe('render', () => {
  it('uploads, waits and saves; prints the names of the files, and nothing else', async () => {
    service.script(PROCESSING, PROCESSING, COMPLETED);
    const { exitCode, stdout, stderr } = await command(renderMedia('--sync-mode', 'loop'));
    expect({ exitCode, stdout }).toEqual({ exitCode: EXIT_CODES.ok, stdout: `${result()}\n` });
    expect(stderr).toContain(`Render ${RENDER_ID}`);
    // eslint-disable-next-line no-control-regex -- nothing that moves a cursor or colors, which is what this checks
    expect(stderr).not.toMatch(/\x1b/);
    expect(await readFile(result(), 'utf8')).toBe(OUTPUT);
    const create = service.requests.find(({ name }) => name === 'POST /v1/renders');
    expect(JSON.parse(create?.body ?? '')).toMatchObject({ engines: ['musetalk'], sync_mode: 'loop' });
  });

  it('with --json prints one document, also when an engine failed, and says so with its exit code', async () => {
    const engines = [
      { engine: 'musetalk', status: 'completed' },
      { engine: 'highsync', status: 'failed', code: 'engine_failed' },
    ] as const;
    service.script({ status: 'completed', engines });
    const { exitCode, stdout } = await command(renderMedia('--engines', 'musetalk,highsync', '--json'));
    expect(exitCode).toBe(EXIT_CODES.partial);
    expect(JSON.parse(stdout)).toMatchObject({
      render: { id: RENDER_ID, status: 'completed' },
      files: [{ engine: 'musetalk', path: result() }],
    });
  });

  it('with --json prints the failure and the render that failed', async () => {
    service.script({
      status: 'failed',
      engines: [{ engine: 'musetalk', status: 'failed', code: 'no_face_detected' }],
    });
    const { exitCode, stdout, stderr } = await command(renderMedia('--json'));
    expect(exitCode).toBe(EXIT_CODES.unsuccessful);
    const advice = 'Use a video that shows a face, large enough and turned to the camera.';
    expect(stderr).toContain(`\n  ${advice}\n`);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'no_face_detected', retryable: false, advice },
      exit_code: EXIT_CODES.unsuccessful,
      render: { id: RENDER_ID, status: 'failed' },
    });
    expect(stderr).toContain('error: ');
  });

  it('finds out before it sends anything that a file is missing or would be replaced', async () => {
    service.script(COMPLETED);
    await writeFile(result(), 'of yesterday');
    expect(await command(renderMedia())).toMatchObject({
      exitCode: EXIT_CODES.usage,
      stderr: expect.stringContaining('already exists') as string,
    });
    expect(await command(['render', 'missing.mp4', media[1] ?? ''])).toMatchObject({
      exitCode: EXIT_CODES.usage,
      stderr: expect.stringContaining('missing.mp4 does not exist') as string,
    });
    expect(service.requests).toEqual([]);
    expect(await command(renderMedia('--force'))).toMatchObject({ exitCode: EXIT_CODES.ok });
    expect(await readFile(result(), 'utf8')).toBe(OUTPUT);
  });

  it('goes on when the user interrupts, and says how to come back', async () => {
    service.script(PROCESSING);
    const interruption = new AbortController();
    service.onRequest((name) => {
      if (name === `GET /v1/renders/${RENDER_ID}`) interruption.abort('SIGINT');
    });
    const { exitCode, stderr } = await command(renderMedia(), { interruption });
    expect(exitCode).toBe(EXIT_CODES.interrupted);
    expect(stderr).toContain(`lipsync wait ${RENDER_ID}`);
    expect(service.names()).not.toContain(`POST /v1/renders/${RENDER_ID}/cancel`);
  });

  it('is cancelled by an interrupt if that was asked for', async () => {
    service.script(PROCESSING);
    const interruption = new AbortController();
    service.onRequest((name) => {
      if (name === `GET /v1/renders/${RENDER_ID}`) interruption.abort('SIGINT');
    });
    const { exitCode } = await command(renderMedia('--cancel-on-interrupt'), { interruption });
    expect(exitCode).toBe(EXIT_CODES.interrupted);
    expect(service.names().at(-1)).toBe(`POST /v1/renders/${RENDER_ID}/cancel`);
  });

  it('is not called cancelled when the service refused that', async () => {
    service.script(PROCESSING);
    const interruption = new AbortController();
    service.onRequest((name) => {
      if (name !== `GET /v1/renders/${RENDER_ID}`) return;
      interruption.abort('SIGINT');
      service.fail(409);
    });
    const { exitCode, stderr } = await command(renderMedia('--cancel-on-interrupt'), { interruption });
    expect(exitCode).toBe(EXIT_CODES.interrupted);
    expect(stderr).toContain(`Render ${RENDER_ID} could not be cancelled`);
    expect(stderr).toContain(`lipsync cancel ${RENDER_ID}`);
  });

  it('that is completed is neither cancelled nor said to go on when saving it is interrupted', async () => {
    service.script(COMPLETED);
    const interruption = new AbortController();
    service.onRequest((name) => {
      if (name === 'GET /store/output') interruption.abort('SIGINT');
    });
    const { exitCode, stderr } = await command(renderMedia('--cancel-on-interrupt'), { interruption });
    expect(exitCode).toBe(EXIT_CODES.interrupted);
    expect(stderr).toContain('Interrupted before all results were saved.');
    expect(stderr).toContain(`lipsync download ${RENDER_ID}`);
    expect(service.names()).not.toContain(`POST /v1/renders/${RENDER_ID}/cancel`);
  });

  it('is never lost: an interrupt while it is created ends the command when its id is known', async () => {
    service.script(PROCESSING);
    const interruption = new AbortController();
    service.onRequest((name) => {
      if (name === 'POST /v1/renders') interruption.abort('SIGINT');
    });
    const { exitCode, stderr } = await command(renderMedia(), { interruption });
    expect(exitCode).toBe(EXIT_CODES.interrupted);
    expect(stderr).toContain(`lipsync wait ${RENDER_ID}`);
  });

  it('stops waiting after --timeout with a code of its own', async () => {
    service.script(PROCESSING);
    expect(await command(['wait', RENDER_ID, '--timeout', '1s'])).toMatchObject({
      exitCode: EXIT_CODES.later,
    });
  });
});

describe('a service that is not to be trusted', () => {
  it('writes nothing outside the folder, whatever it calls its engines', async () => {
    service.script({
      status: 'completed',
      engines: [{ engine: 'x/../../../../pwned', status: 'completed' }],
    });
    const out = `${folder}/a/b/c/`;
    const { exitCode, stderr } = await command(['download', RENDER_ID, '--out', out]);
    expect((await readdir(folder, { recursive: true })).join()).not.toContain('pwned');
    expect(exitCode).toBe(EXIT_CODES.failed);
    expect(stderr).toContain('x/../../../../pwned');
  });

  it('leads nowhere else through the id that it gave to a script', async () => {
    service.script(COMPLETED);
    expect(await command(['download', '../pwned', '--out', `${folder}/a/`])).toMatchObject({
      exitCode: EXIT_CODES.usage,
    });
    expect(service.requests).toEqual([]);
  });

  const HOSTILE = '\x1b]0;owned\x07\x1b[2J\x7f\u009b31m\u202egpj.exe\u2066\u2028\nerror: what it wants';
  // eslint-disable-next-line no-control-regex -- what a terminal obeys, which is what this looks for
  const OBEYED = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]|^error: what/m;
  const hostile = { engine: HOSTILE, status: HOSTILE, stage: HOSTILE, code: HOSTILE, message: HOSTILE };

  const hostileRender = () =>
    service.script({ status: 'processing', engines: [hostile] }, { status: 'failed', engines: [hostile] });

  it.each(['status', 'wait', 'download'])('cannot command the terminal through %s', async (name) => {
    hostileRender();
    const { stdout, stderr } = await command([name, RENDER_ID]);
    expect(stdout + stderr).toContain('owned');
    expect(stdout).not.toMatch(OBEYED);
    expect(stderr).not.toMatch(OBEYED);
  });

  it.each(['status', 'wait'])('cannot command it through %s --json, which loses nothing', async (name) => {
    hostileRender();
    const { stdout } = await command([name, RENDER_ID, '--json']);
    expect(stdout).not.toMatch(OBEYED);
    expect(JSON.stringify(JSON.parse(stdout))).toContain(JSON.stringify(HOSTILE));
  });

  it.each([1e12, -1e12])('cannot break the line of progress with %d percent', async (percent) => {
    const engines = [{ engine: 'musetalk', status: 'processing', percent }];
    service.script({ status: 'processing', engines }, COMPLETED);
    const { stderr } = await command(['wait', RENDER_ID]);
    expect(stderr).toMatch(/^ {2}musetalk {2}(100| {2}0) %/);
  });
});

it.each([
  ['http://api.example.com', 1],
  ['http://192.168.1.5:8080', 1],
  ['https://api.example.com', 0],
  ['http://localhost:8080', 0],
  ['http://127.0.0.1:8080', 0],
  ['http://[::1]:8080', 0],
])('warns that %s would be sent the key in clear text: %j times', async (address, times) => {
  // Nothing is sent: the command is interrupted before.
  const interruption = new AbortController();
  interruption.abort('SIGINT');
  const env = { LIPSYNC_API_KEY: API_KEY, LIPSYNC_BASE_URL: address };
  const { stdout, stderr } = await command(['status', RENDER_ID], { env, interruption });
  expect(stderr.split('without encryption')).toHaveLength(times + 1);
  expect(stdout).toBe('');
});

describe('login', () => {
  const anonymous = { LIPSYNC_BASE_URL: '' };

  it('stores a key that the service accepts, for commands and until logout', async () => {
    service.script(COMPLETED);
    const login = await command(['login', '--base-url', service.base], {
      env: anonymous,
      input: `${API_KEY}\n`,
    });
    expect(login).toMatchObject({ exitCode: EXIT_CODES.ok });
    expect(await command(['status', RENDER_ID, '--json'], { env: anonymous })).toMatchObject({
      exitCode: EXIT_CODES.ok,
    });
    const { stdout } = await command(['profiles', '--json'], { env: anonymous });
    expect(JSON.parse(stdout)).toEqual([
      { name: 'default', base_url: service.base, key_ends_in: API_KEY.slice(-4), used: true },
    ]);
    await command(['logout'], { env: anonymous });
    expect(await command(['status', RENDER_ID], { env: anonymous })).toMatchObject({
      exitCode: EXIT_CODES.unauthorized,
    });
  });

  it('warns of an address without encryption before the key goes there', async () => {
    const args = ['login', '--base-url', 'http://api.example.com'];
    const { exitCode, stderr } = await command(args, { env: anonymous, input: 'not a key' });
    expect(exitCode).toBe(EXIT_CODES.usage);
    expect(stderr).toMatch(/^Warning: .*without encryption/);
  });

  it('stores nothing that the service refuses, and names the request', async () => {
    const wrong = `svc_${'00'.repeat(32)}`;
    const { exitCode, stdout } = await command(['login', '--base-url', service.base, '--json'], {
      env: anonymous,
      input: wrong,
    });
    expect(exitCode).toBe(EXIT_CODES.unauthorized);
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'invalid_api_key', request_id: 'req-1' } });
    await expect(stat(path.join(folder, 'lipsync'))).rejects.toThrow('ENOENT');
  });

  it.each([
    ['something else answers', () => service.fail(502), () => service.base],
    ['nothing answers', () => undefined, () => 'http://127.0.0.1:1'],
  ])('speaks of the key and not of a render when %s', async (_, prepare, base) => {
    service.script(COMPLETED);
    prepare();
    // No pause before it is tried again.
    jest.spyOn(Math, 'random').mockReturnValue(0);
    const { exitCode, stdout, stderr } = await command(['login', '--base-url', base(), '--json'], {
      env: anonymous,
      input: API_KEY,
    });
    jest.restoreAllMocks();
    expect(exitCode).toBe(EXIT_CODES.later);
    expect(stderr).toMatch(/^error: (Something other than the service answered|The service does not answer)/);
    expect(stdout + stderr).not.toContain('ren_');
  });
});

describe('whoami', () => {
  const whoami = (env: Record<string, string>) => command(['whoami', '--json'], { env });

  it('says whose key is used, where, and that it works', async () => {
    service.script(COMPLETED);
    const { exitCode, stdout } = await command(['whoami', '--json']);
    expect(exitCode).toBe(EXIT_CODES.ok);
    expect(JSON.parse(stdout)).toEqual({
      profile: null,
      base_url: service.base,
      key: 'svc_…5e5e',
      works: true,
      interface_version: '1.2.3',
    });
  });

  it('says whose key the service refuses, which alone knows its keys', async () => {
    service.script(COMPLETED);
    const env = { LIPSYNC_API_KEY: `svc_${'AB'.repeat(32)}`, LIPSYNC_BASE_URL: service.base };
    const { exitCode, stdout, stderr } = await whoami(env);
    expect(exitCode).toBe(EXIT_CODES.unauthorized);
    expect(JSON.parse(stdout)).toMatchObject({ key: 'svc_…ABAB', works: false });
    expect(stderr).toContain('The service does not accept this key.');
  });

  it('is what other commands advise when something else answers, and does not advise itself', async () => {
    service.fail(404);
    // The name of a file is no command.
    for (const other of [
      ['status', RENDER_ID],
      ['download', RENDER_ID, '--out', 'whoami'],
    ])
      expect((await command(other)).stderr).toContain('wrong URL.\n  See lipsync whoami\n');
    const itself = await command(['whoami']);
    expect(itself.stderr).toMatch(/wrong URL\.\n$/);
  });

  it('sends nothing that cannot be a key', async () => {
    service.script(COMPLETED);
    const env = { LIPSYNC_API_KEY: 'svc_5e5e', LIPSYNC_BASE_URL: service.base };
    expect(await whoami(env)).toMatchObject({
      exitCode: EXIT_CODES.unauthorized,
      stderr: expect.stringContaining('LIPSYNC_API_KEY is not an API key.') as string,
    });
    expect(service.requests).toEqual([]);
  });
});

describe('list', () => {
  const list = async (...args: string[]) => {
    const { exitCode, stdout } = await command(['list', '--json', ...args]);
    return { exitCode, rows: JSON.parse(stdout) as unknown };
  };

  it('has what was rendered, of what, and where the results are', async () => {
    service.script(COMPLETED);
    await command(renderMedia());
    service.requests.length = 0;
    expect((await list()).rows).toEqual([
      {
        id: RENDER_ID,
        created_at: '2026-01-01T00:00:00.000Z',
        status: 'completed',
        inputs: media,
        engines: ['musetalk'],
        files: [result()],
      },
    ]);
    // What has ended changes no more.
    expect(service.requests).toEqual([]);
  });

  it('asks how those are that had not ended, and whether all are still there with --refresh', async () => {
    service.script(PROCESSING, COMPLETED);
    await command(renderMedia('--no-wait'));
    expect((await list()).rows).toMatchObject([{ status: 'processing' }]);
    expect((await list()).rows).toMatchObject([{ status: 'completed' }]);
    service.forget();
    expect((await list()).rows).toMatchObject([{ status: 'completed' }]);
    expect((await list('--refresh')).rows).toMatchObject([{ status: 'expired' }]);
  });

  it('shows what it knows, and fails, when the service cannot be asked', async () => {
    service.script(PROCESSING);
    await command(renderMedia('--no-wait'));
    service.fail(404);
    expect(await list()).toMatchObject({ exitCode: EXIT_CODES.failed, rows: [{ status: 'processing' }] });
  });

  it('is of one key, and forgets', async () => {
    service.script(COMPLETED);
    await command(renderMedia());
    const other = { LIPSYNC_API_KEY: `svc_${'0'.repeat(64)}`, LIPSYNC_BASE_URL: service.base };
    expect((await command(['list', '--json'], { env: other })).stdout).toBe('[]\n');
    const { stdout } = await command(['list', '--forget', RENDER_ID, '--json']);
    expect(JSON.parse(stdout)).toEqual({ forgotten: [RENDER_ID] });
    expect((await list()).rows).toEqual([]);
  });
});

it.each([
  [['render', 'face.mp4']],
  [['rendr']],
  [['render', 'a', 'b', '--engines', 'x']],
  [['render', 'a', 'b', '--webhook', 'http://localhost:3000/hook']],
  [['status', 'what']],
  [[]],
])('ends with the code for a wrong command line: %j', async (args) => {
  const { exitCode, stdout } = await command([...args, '--json']);
  expect(exitCode).toBe(EXIT_CODES.usage);
  expect(JSON.parse(stdout)).toMatchObject({ exit_code: EXIT_CODES.usage });
});

describe('complete', () => {
  const words = async (...typed: string[]) =>
    (await command(['complete', '--', ...typed])).stdout.split('\n').map((line) => line.split('\t')[0]);

  it.each([
    [['st'], ['status']],
    [['render', '--sy'], ['--sync-mode']],
    [['render', '--pro'], ['--profile']],
    [['render', 'face.mp4', '-s', 'b'], ['bounce']],
    [['render', '--engines', 'musetalk,h'], ['musetalk,highsync']],
    [['webhook', 'v'], ['verify']],
    [
      ['completion', ''],
      ['bash', 'zsh', 'fish'],
    ],
    // A file: the shell knows better.
    [['render', 'fa'], []],
  ])('of %j offers %j', async (typed, expected) => {
    expect(await words(...typed)).toEqual([...expected, '']);
  });

  it('offers the ids of what was made', async () => {
    service.script(COMPLETED);
    await command(renderMedia());
    expect(await words('download', 'ren')).toEqual([RENDER_ID, '']);
    expect(await words('render', 'a', 'b', '--preparation', '')).toEqual(['']);
  });
});
