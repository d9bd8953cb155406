// The tarball, as those who install it get it: in an empty project, without the network.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { signatureHeader } from '@lipsync/domain';
import { transform } from '@swc/core';
import { API_KEY, render } from './test/answers';
import { readmeSamples } from './test/readme';
import { startScriptedServer } from './test/scripted-server';

const PACKAGE = path.join(__dirname, '..');
/** Below the package, where what its samples import besides it is found. */
const FOLDER = path.join(PACKAGE, '.local', `package-${process.pid}`);
const PROJECT = path.join(FOLDER, 'project');
const TSC = path.join(PACKAGE, '..', '..', 'node_modules', '.bin', 'tsc');
/** Bytes of the browser build, minified and compressed. */
const BROWSER_LIMIT = 12 * 1024;

/** Runs what was installed: an older Node than this repository needs, to see what callers may have. */
const CALLERS_NODE = process.env['CALLERS_NODE'] || process.execPath;

const run = promisify(execFile);
let packed: string[];

beforeAll(async () => {
  const staged = path.join(FOLDER, 'staged');
  await mkdir(staged, { recursive: true });
  await mkdir(PROJECT, { recursive: true });
  for (const file of ['package.json', 'README.md', 'LICENSE'])
    await copyFile(path.join(PACKAGE, file), path.join(staged, file));
  await run(process.execPath, [path.join(PACKAGE, 'scripts', 'build.mjs'), path.join(staged, 'dist')]);
  const { stdout } = await run('npm', ['pack', '--json', '--ignore-scripts', staged], { cwd: FOLDER });
  const [tarball] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  packed = tarball?.files.map((file) => file.path).sort() ?? [];
  await write('package.json', '{ "private": true }');
  const quietly = ['--offline', '--no-audit', '--no-fund', '--ignore-scripts'];
  await run('npm', ['install', ...quietly, path.join('..', tarball?.filename ?? '')], { cwd: PROJECT });
});
afterAll(() => rm(FOLDER, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFile(path.join(PROJECT, name), text);

async function writeProgram(name: string, typescript: string): Promise<void> {
  const options = { jsc: { parser: { syntax: 'typescript' as const }, target: 'es2022' as const } };
  await write(name, (await transform(typescript, options)).code);
}

/** @throws Error with the compiler's complaints */
async function expectTypes(files: readonly string[], compilerOptions: object): Promise<void> {
  const options = { strict: true, noEmit: true, target: 'es2022', ...compilerOptions };
  await write('tsconfig.json', JSON.stringify({ compilerOptions: options, files }));
  await run(TSC, ['-p', 'tsconfig.json'], { cwd: PROJECT }).catch((error: unknown) => {
    throw new Error((error as { stdout: string }).stdout);
  });
}

it('holds what it needs and nothing else, and brings nothing along', async () => {
  const built = ['browser.mjs', 'index.d.mts', 'index.d.ts', 'index.js', 'index.mjs'];
  expect(packed).toEqual(['LICENSE', 'README.md', ...built.map((name) => `dist/${name}`), 'package.json']);
  const { stdout } = await run('npm', ['ls', '--all', '--parseable'], { cwd: PROJECT });
  expect(stdout.trim().split('\n')).toHaveLength(2);
});

it.each([
  ['an ES module', 'main.mjs', "import { LipSync } from '@lipsync/client';"],
  ['CommonJS', 'main.cjs', "const { LipSync } = require('@lipsync/client');"],
])('works as %s', async (_, file, load) => {
  const server = await startScriptedServer(() => ({
    'GET /v1/renders/ren_1': [{ status: 200, body: render() }],
  }));
  await write(file, `${load}\nnew LipSync().renders.get('ren_1').then(({ status }) => console.log(status));`);
  const env = { ...process.env, LIPSYNC_API_KEY: API_KEY, LIPSYNC_BASE_URL: server.base };
  const { stdout } = await run(CALLERS_NODE, [file], { cwd: PROJECT, env });
  expect(stdout).toBe('processing\n');
  await server.close();
});

/** What only types can tell: that an error's code is known, and narrows what it comes with. */
const TYPED = `
declare const error: unknown;
if (error instanceof client.ApiError) {
  if (error.code === 'rate_limit_exceeded') { const status: 429 = error.status; void status; }
  // @ts-expect-error No request is refused with it.
  if (error.code === 'no_face_detected') throw error;
}
if (error instanceof client.RenderFailed && error.code === 'no_face_detected') throw error;
declare const result: client.EngineResult;
if (result.status === 'completed') void result.output.url.length;
if (result.status === 'failed') void result.error.code.length;
// @ts-expect-error Only a completed engine has one.
void result.output.url;
declare const event: client.WebhookEvent;
// @ts-expect-error A preparation has no engines.
void event.data.engines;
if (event.type === 'render.completed') for (const made of event.data.engines) {
  // @ts-expect-error Events bring no addresses.
  if (made.status === 'completed') void made.output.url;
}
`;

it('has types for both module systems, and for browsers without those of Node', async () => {
  await write('types.mts', `import * as client from '@lipsync/client';\n${TYPED}`);
  await write('types.cts', `import client = require('@lipsync/client');\n${TYPED}`);
  await expectTypes(['types.mts', 'types.cts'], { module: 'node16', lib: ['es2022'], types: ['node'] });
  await write('page.ts', `import * as client from '@lipsync/client';\n${TYPED}`);
  const page = { module: 'esnext', moduleResolution: 'bundler', customConditions: ['browser'] };
  await expectTypes(['page.ts'], { ...page, lib: ['es2022', 'dom'], types: [] });
});

it('is small in a browser, and needs nothing of Node there', async () => {
  await write('page.mjs', "export * from '@lipsync/client';");
  const options = ['--platform', 'browser', '--minify', '--file', 'bundle.mjs'];
  await run(path.join(PACKAGE, 'node_modules', '.bin', 'rolldown'), ['page.mjs', ...options], {
    cwd: PROJECT,
  });
  const bundle = await readFile(path.join(PROJECT, 'bundle.mjs'), 'utf8');
  expect(bundle).not.toMatch(/\bfrom ?["']|\brequire\(/);
  expect(gzipSync(bundle).length).toBeLessThanOrEqual(BROWSER_LIMIT);
});

describe('the samples of the README', () => {
  it('are right for the compiler', async () => {
    const samples = await readmeSamples();
    const files = [...samples.keys()].map((name) => `readme-${name}.mts`);
    for (const [name, code] of samples) await write(`readme-${name}.mts`, code);
    expect(files).toHaveLength(5);
    await expectTypes(files, {
      module: 'nodenext',
      types: ['node'],
      skipLibCheck: true,
      esModuleInterop: true,
    });
  });

  it('accept what the service signs in every framework, and refuse the rest', async () => {
    const secret = 'a1'.repeat(32);
    const samples = await readmeSamples();
    for (const name of ['express', 'fastify', 'next', 'hono'])
      await writeProgram(`${name}.mjs`, samples.get(name) ?? '');
    await write('frameworks.mjs', FRAMEWORKS);
    const body = JSON.stringify({ id: 'evt_1', type: 'render.completed', data: render() });
    const headers = {
      'content-type': 'application/json',
      'svc-delivery-id': 'dlv_1',
      'svc-signature': signatureHeader(secret, Math.floor(Date.now() / 1000), 'dlv_1', body),
    };
    const env = {
      ...process.env,
      LIPSYNC_WEBHOOK_SECRET: secret,
      DELIVERY: JSON.stringify({ body, headers }),
    };
    const { stdout } = await run(CALLERS_NODE, ['frameworks.mjs'], { cwd: PROJECT, env });
    const answers = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as unknown;
    const each = [204, '400 wrong_signature'];
    expect(answers).toEqual({ express: each, fastify: each, next: each, hono: each });
  });
});

/** Sends each of them the delivery, and one whose body was changed. */
const FRAMEWORKS = `
import { app as express } from './express.mjs';
import { app as fastify } from './fastify.mjs';
import { app as hono } from './hono.mjs';
import { POST } from './next.mjs';

const { body, headers } = JSON.parse(process.env.DELIVERY);
const server = express.listen(0, '127.0.0.1');
await new Promise((resolve) => server.once('listening', resolve));
const request = (sent) => new Request('http://localhost/webhooks', { method: 'POST', headers, body: sent });
const send = {
  express: (sent) => fetch(new Request('http://127.0.0.1:' + server.address().port + '/webhooks', request(sent))),
  fastify: async (sent) => {
    const { statusCode, body: text } = await fastify.inject({ method: 'POST', url: '/webhooks', headers, body: sent });
    return new Response(statusCode === 204 ? null : text, { status: statusCode });
  },
  next: (sent) => POST(request(sent)),
  hono: (sent) => hono.request(request(sent)),
};
const answers = {};
for (const [name, post] of Object.entries(send)) {
  const [genuine, forged] = [await post(body), await post(body + ' ')];
  answers[name] = [genuine.status, forged.status + ' ' + (await forged.text())];
}
server.close();
await fastify.close();
console.log(JSON.stringify(answers));
`;
