import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { buildAnalyzerPack } from '@lipsync/builtin-packs';
import { openPack } from '@lipsync/engines';
import { writePooledMusetalkPack } from '@lipsync/engines/test';
import { resolveBinaries } from '@lipsync/media';
import { createStorage } from '@lipsync/storage';
import { HUB_COMMIT, type HubServer, startHubServer, startS3Server, testFolder } from '@lipsync/testkit';
import { makeClip } from '../sample-clip';
import { type Consent } from './consent';
import { folderDestination, storeDestination } from './destination';
import { type GetOptions, getPack } from './get-pack';
import { type PublishedFile, publishedRelease, type Release, SUBJECTS } from './published';

/** The compiled inference process: a child process cannot run TypeScript. */
const entry = path.resolve(__dirname, '../../../../services/gpu-worker/dist/inference/main.js');

/** The same program for a process of its own, compiled. */
const compiled = path.resolve(__dirname, '../../dist/get');

const PACK = { half: false, provider: 'cpu', further: [] } as const;
const LARGE = 300_000;
const contentOf = ({ to }: PublishedFile): Buffer =>
  to.endsWith('.json') ? Buffer.from(JSON.stringify({ file: to })) : Buffer.alloc(LARGE, to);
const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A release with the published names and layout, and small files. */
function reduced(release: Release): Release {
  const files = release.files.map((file) => {
    const bytes = contentOf(file);
    return { ...file, bytes: bytes.length, sha256: sha256(bytes) };
  });
  return { ...release, files, pack_bytes: { float32: 1000, float16: 500 } };
}

/** Somebody who accepted the licenses, trusts these digests, and is at a terminal if there is an answer. */
function consenting({
  answer = null,
  ...consent
}: Partial<Omit<Consent, 'terminal'>> & { answer?: string | null } = {}): Consent & { shown: () => string } {
  const [input, output] = [new PassThrough(), new PassThrough()];
  if (answer !== null) input.write(`${answer}\n`);
  let text = '';
  output.on('data', (chunk: Buffer) => (text += String(chunk)));
  const terminal = { input: Object.assign(input, { isTTY: answer !== null }), output };
  return { licensesAccepted: true, trusted: [], ...consent, terminal, shown: () => text };
}

describe('getting published weights', () => {
  const at = testFolder();
  let good: string;
  let ffmpeg: string;
  let hub: HubServer;
  let release: Release;
  let own: string;
  let packsDir: string;
  let told: string[];
  let cases = 0;

  beforeAll(async () => {
    good = at('good');
    await buildAnalyzerPack(path.join(good, 'analyzer'));
    await writePooledMusetalkPack(path.join(good, 'musetalk'));
    ({ ffmpeg } = await resolveBinaries(process.env));
    await mkdir(at('upstream'));
    // In place of a Python with torch (get-pack.long.test.ts has a real one): "exports" a pack that was there before.
    await writeFile(
      at('python'),
      `#!${process.execPath}
       const { cpSync, readFileSync, writeFileSync } = require('node:fs');
       const after = (name) => process.argv[process.argv.indexOf(name) + 1];
       if (process.argv[2] === '-c') process.exit();
       const out = after('--out');
       cpSync(${JSON.stringify(path.join(good, 'musetalk'))}, out, { recursive: true });
       const manifest = readFileSync(out + '/pack.json', 'utf8');
       writeFileSync(out + '/pack.json', manifest.replace('pooled-musetalk', after('--name')));
       if (process.argv.includes('damaged')) writeFileSync(out + '/unet.onnx', 'damaged');`,
      { mode: 0o755 },
    );
  });
  beforeEach(async () => {
    own = at(`case-${++cases}`);
    packsDir = path.join(own, 'packs');
    told = [];
    await cp(path.join(good, 'analyzer'), path.join(packsDir, 'analyzer'), { recursive: true });
    release = reduced(await publishedRelease('musetalk'));
    hub = await startHubServer(
      release.files.map((file) => [
        `${file.repo}/${file.path}`,
        { bytes: contentOf(file), large: !file.path.endsWith('.json') },
      ]),
    );
  });
  afterEach(() => hub.close());

  const weightsAt = (...names: string[]): string =>
    path.join(own, 'cache', 'musetalk-1.5', 'weights', ...names);
  const unet = 'musetalkV15/unet.pth';
  const get = (options: Partial<GetOptions> = {}) =>
    getPack({
      release,
      hub: { address: hub.address },
      exporter: { python: at('python'), programs: at() },
      destination: folderDestination(packsDir, { replace: false }),
      cache: path.join(own, 'cache'),
      upstream: { given: at('upstream'), address: 'unused' },
      consent: consenting(),
      pack: PACK,
      packsDir,
      checks: null,
      tell: (line) => told.push(line),
      pauseMs: 0,
      ...options,
    });
  const askedStore = () => hub.requests.filter(({ store, method }) => store && method === 'GET');
  const installed = () => readdir(packsDir);

  test('downloads, exports, verifies, renders a clip and installs; a second call downloads nothing', async () => {
    const shape = { width: 320, height: 320, seconds: 3, fps: 25, grain: 0 };
    const checks = { ffmpeg, entry, ...(await makeClip(ffmpeg, at(), shape)) };
    const row = await get({ checks });
    expect(row).toMatchObject({
      engine: 'musetalk',
      name: 'musetalk-1.5',
      state: 'installed',
      provider: 'cpu',
      weights: '6 by known digest',
      sampled_frames: 75,
    });
    expect((await openPack(path.join(packsDir, 'musetalk-1.5'))).manifest.engine).toBe('musetalk');
    expect(await readdir(path.join(own, 'cache', 'musetalk-1.5'))).toEqual(['try.mp4', 'weights']);
    const asked = hub.requests.length;
    await expect(get()).rejects.toThrow('musetalk-1.5 holds a pack already; --replace');
    await get({ destination: folderDestination(packsDir, { replace: true }) });
    expect(hub.requests).toHaveLength(asked);
  });

  test('a download that breaks off is continued where it stopped', async () => {
    hub.faults.stallAfter = [200_000];
    await get({ tell: (line) => void (/unet\.pth 60 %/.test(line) && hub.breakOff()) });
    const ranges = askedStore().map(({ range }) => range ?? 'all');
    expect(ranges.slice(0, 2).join(' ')).toMatch(/^all bytes=[1-9]\d*-$/);
    expect(sha256(await readFile(weightsAt(unet)))).toBe(sha256(contentOf(fileAt(unet))));
  });

  test('a call that ended in the middle leaves a part, which the next call continues', async () => {
    hub.faults.stallAfter = [200_000];
    const ending = get({
      tell: (line) => {
        if (!/unet\.pth 60 %/.test(line)) return;
        hub.faults.down = true;
        hub.breakOff();
      },
    });
    await expect(ending).rejects.toThrow('answered 503');
    expect(await installed()).toEqual(['analyzer']);
    expect(await readdir(weightsAt('musetalkV15'))).toContain('unet.pth.part');
    hub.faults.down = false;
    const before = askedStore().length;
    await get();
    expect(askedStore()[before]?.range).toMatch(/^bytes=[1-9]\d*-$/);
    expect(told.join('\n')).toMatch(/unet\.pth, 0\.3 MB, goes on at 0\.[12] MB$/m);
    expect(await readdir(weightsAt('musetalkV15'))).toEqual(['musetalk.json', 'unet.pth']);
  });

  test('a part of another version is not continued', async () => {
    await mkdir(weightsAt('musetalkV15'), { recursive: true });
    await writeFile(weightsAt(`${unet}.part`), Buffer.alloc(1000, 'old'));
    await writeFile(weightsAt(`${unet}.part.etag`), '"of another version"');
    await get();
    expect(sha256(await readFile(weightsAt(unet)))).toBe(sha256(contentOf(fileAt(unet))));
  });

  test('bytes with another digest are deleted, and nothing is installed', async () => {
    hub.faults.damaged = true;
    await expect(get()).rejects.toThrow(
      /unet\.pth has SHA-256 \w{64}, not \w{64}\. What was downloaded is deleted/,
    );
    expect(await readdir(weightsAt('musetalkV15'))).toEqual(['musetalk.json']);
    expect(await installed()).toEqual(['analyzer']);
  });

  test('a hub that states another digest than the known one is refused before anything is downloaded', async () => {
    change(unet, { sha256: 'a'.repeat(64) });
    await expect(get()).rejects.toThrow(
      /is not the published file: the hub states .* Nothing was downloaded/,
    );
    expect(askedStore()).toEqual([]);
  });

  test('a digest that nobody here knows is confirmed before anything is downloaded, and kept with its commit', async () => {
    change(unet, { sha256: null, bytes: null, revision: 'main' });
    const stated = sha256(contentOf(fileAt(unet)));
    await expect(get()).rejects.toThrow(
      `nothing was made of the files: there is no terminal to ask on; compare them and use --trust ${stated}`,
    );
    const refusing = consenting({ answer: 'no' });
    await expect(get({ consent: refusing })).rejects.toThrow('the digests were not confirmed');
    expect(refusing.shown()).toContain(
      `TMElyralab/MuseTalk/${unet}\n    SHA-256 ${stated}, stated by ${hub.address} at ${HUB_COMMIT}\n`,
    );
    await expect(get({ consent: consenting({ trusted: ['0'.repeat(64)] }) })).rejects.toThrow('--trust');
    expect(askedStore()).toEqual([]);

    expect(await get({ consent: consenting({ trusted: [stated] }) })).toMatchObject({
      weights: '5 by known digest, 1 by a digest that you confirmed',
    });
    const destination = folderDestination(packsDir, { replace: true });
    const before = hub.requests.length;
    await get({ destination });
    expect(hub.requests).toHaveLength(before);
    await writeFile(weightsAt(unet), Buffer.alloc(LARGE, 'y'));
    await get({ destination });
    expect(hub.requests[before]?.path).toContain(`/resolve/${HUB_COMMIT}/`);
    expect(sha256(await readFile(weightsAt(unet)))).toBe(stated);
  });

  test('a file that is no longer what was confirmed is refused, whoever asks', async () => {
    change(unet, { sha256: null, bytes: null, revision: 'main' });
    await get({ consent: consenting({ answer: 'yes' }) });
    await rm(weightsAt(unet));
    hub.files.set(`TMElyralab/MuseTalk/${unet}`, { bytes: Buffer.alloc(LARGE, 'z'), large: true });
    const destination = folderDestination(packsDir, { replace: true });
    const again = get({ destination, consent: consenting({ answer: 'yes' }) });
    await expect(again).rejects.toThrow(
      /is not the published file: the hub states .* Nothing was downloaded/,
    );
  });

  test('a hub that states no digest of a file that nobody knows is of no use', async () => {
    change('sd-vae/config.json', { sha256: null, bytes: null });
    await expect(get({ consent: consenting({ answer: 'yes' }) })).rejects.toThrow(
      `the digest of stabilityai/sd-vae-ft-mse/config.json is not known here, and ${hub.address} states none`,
    );
  });

  test('too small a disk is noticed before anything is downloaded, counted once for what it shares', async () => {
    const room = async () => ({ device: 1, free: 4 * LARGE });
    release = { ...release, pack_bytes: { float32: LARGE, float16: LARGE } };
    await expect(get({ room })).rejects.toThrow(
      /has 0\.0 GB free, and 0\.0 GB are needed\. Nothing was downloaded/,
    );
    expect(askedStore()).toEqual([]);
    await get({ room: async () => ({ device: 1, free: 7 * LARGE }) });
  });

  // Linux's device that is always full.
  const onLinux = process.platform === 'linux' ? test : test.skip;
  onLinux('a disk that becomes full ends the call, and nothing is installed', async () => {
    await mkdir(weightsAt('musetalkV15'), { recursive: true });
    await symlink('/dev/full', weightsAt(`${unet}.part`));
    await expect(get()).rejects.toThrow(/unet\.pth\.part: the disk is full/);
    expect(await installed()).toEqual(['analyzer']);
    expect(await readdir(weightsAt('musetalkV15'))).not.toContain('unet.pth');
  });

  test('licenses are shown, and without consent nothing is asked of the hub', async () => {
    const refusing = consenting({ licensesAccepted: false, answer: 'no' });
    await expect(get({ consent: refusing })).rejects.toThrow(
      'the licenses were not accepted. Nothing was downloaded',
    );
    expect(refusing.shown()).toContain('MuseTalk: free for any use, on a base under CreativeML OpenRAIL-M');
    await expect(get({ consent: consenting({ licensesAccepted: false }) })).rejects.toThrow(
      '--license-accepted',
    );
    expect(hub.requests).toEqual([]);
    await get({ consent: consenting({ licensesAccepted: false, answer: 'yes' }) });
    expect(await installed()).toContain('musetalk-1.5');
  });

  test('two processes: the second is told who is at work, and takes over what a dead one left', async () => {
    hub.faults.stallAfter = [200_000];
    const first = spawnGet();
    try {
      await once(first.stdout, 'data');
      await expect(get()).rejects.toThrow(
        new RegExp(`musetalk-1.5 is in use by process ${first.pid} on ${hostname()}, since 20`),
      );
    } finally {
      first.kill('SIGKILL');
      await once(first, 'exit');
    }
    expect(await get()).toMatchObject({ state: 'installed' });
    expect(askedStore().some(({ range }) => /^bytes=[1-9]/.test(range ?? ''))).toBe(true);
    expect((await readdir(path.join(own, 'cache', 'musetalk-1.5'))).sort()).toEqual(['weights']);
  });

  test('a gated repository says where its terms are; its token goes to the hub alone', async () => {
    hub.gated.set('TMElyralab/MuseTalk', 'good');
    await expect(get()).rejects.toThrow(
      `its terms must be accepted first, on ${hub.address}/TMElyralab/MuseTalk. Put a token into HF_TOKEN (401)`,
    );
    const other = { address: hub.address, token: 'other' };
    await expect(get({ hub: other })).rejects.toThrow('The token in HF_TOKEN does not suffice (403)');
    await get({ hub: { address: hub.address, token: 'good' } });
    expect(askedStore().map(({ authorization }) => authorization)).toEqual([null, null, null]);
  });

  test.each([
    [
      'a file that is gone',
      () => hub.files.delete(`TMElyralab/MuseTalk/${unet}`),
      'unet.pth is not on the hub at revision',
    ],
    [
      'a repository that is gone',
      () =>
        ['config.json', 'pytorch_model.bin'].forEach((file) =>
          hub.files.delete(`openai/whisper-tiny/${file}`),
        ),
      'openai/whisper-tiny does not exist, or is private',
    ],
  ])('%s is reported with what to put where, and nothing is downloaded', async (_, remove, message) => {
    remove();
    await expect(get()).rejects.toThrow(message);
    await expect(get()).rejects.toThrow(`→ ${weightsAt(unet)} (${LARGE} bytes)`);
    expect(askedStore()).toEqual([]);
    expect(await installed()).toEqual(['analyzer']);
  });

  test('without a network it says what to put where, and a folder that is filled so is accepted', async () => {
    const address = hub.address;
    await hub.close();
    const refused: unknown = await get().catch((error: unknown) => error);
    const message = refused instanceof Error ? refused.message : '';
    expect(message).toContain(
      `${address} cannot be reached for TMElyralab/MuseTalk/musetalkV15/musetalk.json: ECONNREFUSED`,
    );
    const places = [...message.matchAll(/→ (\S+)/g)].map(([, place = '']) => place);
    expect(places).toHaveLength(release.files.length);
    for (const [index, place] of places.entries()) {
      await mkdir(path.dirname(place), { recursive: true });
      await writeFile(place, contentOf(release.files[index] ?? fileAt(unet)));
    }
    expect(await get({ files: weightsAt() })).toMatchObject({
      state: 'installed',
      weights: '6 by known digest',
    });

    change(unet, { sha256: null });
    const replacing = { files: weightsAt(), destination: folderDestination(packsDir, { replace: true }) };
    const found = sha256(contentOf(fileAt(unet)));
    await expect(get(replacing)).rejects.toThrow(`use --trust ${found}`);
    expect(await get({ ...replacing, consent: consenting({ trusted: [found] }) })).toMatchObject({
      weights: '5 by known digest, 1 by a digest that you confirmed',
    });

    await writeFile(weightsAt(unet), 'other');
    await rm(weightsAt('whisper/config.json'));
    await expect(get(replacing)).rejects.toThrow(
      /unet\.pth has 5 bytes, not 300000\n {2}whisper\/config\.json is missing/,
    );
  });

  test('a pack that does not verify is not installed', async () => {
    const damaged = get({ checks: { ffmpeg, entry }, pack: { ...PACK, further: ['damaged'] } });
    await expect(damaged).rejects.toThrow(/^not installed: .*unet\.onnx .*SHA-256/);
    expect(await installed()).toEqual(['analyzer']);
  });

  test('a Python without torch is refused before anything is downloaded, and so is another upstream', async () => {
    const exporter = { python: at('nowhere'), programs: at() };
    await expect(get({ exporter })).rejects.toThrow('LIPSYNC_PYTHON');
    await expect(get({ upstream: { given: path.join(own, 'no'), address: '' } })).rejects.toThrow(
      'is not there',
    );
    const away = get({ upstream: { address: `file://${own}/no` } });
    await expect(away).rejects.toThrow(
      /Clone .* at 0a89dec4\w* elsewhere, and name the checkout with --upstream/,
    );
    expect(hub.requests).toEqual([]);
  });

  test('upstream is cloned at its commit once, and a checkout at another one is refused', async () => {
    const origin = path.join(own, 'origin');
    const repository = path.join(origin, 'TMElyralab', 'MuseTalk');
    const git = (...args: string[]): string => {
      const author = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
      return execFileSync('git', ['-C', repository, ...author, ...args], { encoding: 'utf8' }).trim();
    };
    await mkdir(repository, { recursive: true });
    git('init', '--quiet');
    await writeFile(path.join(repository, 'model.py'), '# of the release');
    git('add', '.');
    git('commit', '--quiet', '--message', 'Release');
    const commit = git('rev-parse', 'HEAD');
    git('commit', '--quiet', '--allow-empty', '--message', 'Later');

    release = { ...release, upstream: { repository: 'TMElyralab/MuseTalk', commit } };
    await get({ upstream: { address: `file://${origin}` } });
    const clone = path.join(own, 'cache', 'upstream', `MuseTalk-${commit.slice(0, 8)}`);
    expect(await readdir(clone)).toEqual(['.git', 'model.py']);
    expect(await readdir(path.dirname(clone))).toEqual([path.basename(clone)]);
    const destination = folderDestination(packsDir, { replace: true });
    await get({ destination, upstream: { address: 'file:///nowhere' } });
    await expect(get({ destination, upstream: { given: repository, address: '' } })).rejects.toThrow(
      `the exporter wants ${commit}: git -C ${repository} checkout ${commit}`,
    );
  });

  test('installs to the object store, from where workers fetch, its manifest last', async () => {
    const s3 = await startS3Server();
    const storage = createStorage({ ...s3, forcePathStyle: true });
    try {
      const store = (replace: boolean) => storeDestination(storage, 'packs/v1', { replace });
      expect(await get({ destination: store(false) })).toMatchObject({
        folder: 'packs/v1/musetalk-1.5',
        state: 'installed',
      });
      const manifest = await storage.getBuffer('packs/v1/musetalk-1.5/pack.json');
      expect(JSON.parse(manifest.toString())).toMatchObject({ name: 'musetalk-1.5' });
      expect(await storage.head('packs/v1/musetalk-1.5/unet.onnx')).not.toBeNull();
      await expect(get({ destination: store(false) })).rejects.toThrow('holds a pack already; --replace');
      expect(await get({ destination: store(true) })).toMatchObject({ state: 'was installed already' });
    } finally {
      storage.close();
      await s3.close();
    }
  });

  test('a distilled UNet comes in the place of the published one, when its digest was confirmed', async () => {
    const distilled = {
      from: 'somebody/students/1.6/unet.safetensors@v2',
      timesteps: '951,401',
      guidance: '1',
    };
    const students = reduced(await publishedRelease('latentsync', { distilled }));
    const student = students.files.find(({ to }) => to === 'distilled/unet.safetensors') ?? fileAt(unet);
    expect(student).toMatchObject({
      repo: 'somebody/students',
      path: '1.6/unet.safetensors',
      revision: 'v2',
    });
    await hub.close();
    hub = await startHubServer(
      students.files.map((file) => [`${file.repo}/${file.path}`, { bytes: contentOf(file), large: true }]),
    );
    const files = students.files.map((file) => (file === student ? { ...file, sha256: null } : file));
    const doubted = { ...students, files };
    await expect(get({ release: doubted })).rejects.toThrow(`use --trust ${sha256(contentOf(student))}`);
    expect(askedStore()).toEqual([]);
    const consent = consenting({ trusted: [sha256(contentOf(student))] });
    expect(await get({ release: doubted, consent })).toMatchObject({
      name: 'latentsync-1.6-2-steps',
      weights: '3 by known digest, 1 by a digest that you confirmed',
    });
    expect(consent.shown()).toContain('https://huggingface.co/somebody/students');
    expect(hub.requests.filter(({ path: asked }) => asked.includes('latentsync_unet.pt'))).toEqual([]);
  });

  /** The same in a process of its own, which writes a line when its download has stalled. */
  function spawnGet(): ChildProcessWithoutNullStreams {
    const program = `
      const { getPack } = require('${compiled}/get-pack.js');
      const { folderDestination } = require('${compiled}/destination.js');
      getPack({
        ...${JSON.stringify({ release, hub: { address: hub.address }, cache: path.join(own, 'cache'), packsDir })},
        exporter: { python: '${at('python')}', programs: '${at()}' },
        upstream: { given: '${at('upstream')}', address: 'unused' },
        consent: { licensesAccepted: true, trusted: [], terminal: { input: process.stdin, output: process.stderr } },
        pack: ${JSON.stringify(PACK)}, checks: null,
        destination: folderDestination('${packsDir}', { replace: false }),
        tell: (line) => /unet.pth 60 %/.test(line) && console.log(line),
      });`;
    return spawn(process.execPath, ['-e', program]);
  }

  function fileAt(to: string): PublishedFile {
    const file = release.files.find((each) => each.to === to);
    if (file === undefined) throw new Error(`no ${to}`);
    return file;
  }

  function change(to: string, changed: Partial<PublishedFile>): void {
    const files = release.files.map((file) => (file.to === to ? { ...file, ...changed } : file));
    release = { ...release, files };
  }
});

test.each(SUBJECTS)('every release of %s can be read', async (engine) => {
  const release = await publishedRelease(engine);
  expect(release.engine).toBe(engine);
  expect(new Set(release.files.map(({ to }) => to)).size).toBe(release.files.length);
  await expect(publishedRelease(engine, { model: '0.1' })).rejects.toThrow('is not known here; known:');
});

test('DeepCache is the default of latentsync’s exporter, can be left out or given, and is refused elsewhere before anything is asked of the hub', async () => {
  const { exporter } = await publishedRelease('latentsync');
  const arguments_ = async (deepCache: number | boolean) =>
    (await publishedRelease('latentsync', { deepCache })).exporter;
  expect(await arguments_(true)).toEqual(exporter);
  expect(await arguments_(false)).toEqual([...exporter, '--no-deep-cache']);
  expect(await arguments_(5)).toEqual([...exporter, '--deep-cache', '5']);
  for (const engine of ['musetalk', 'highsync'] as const)
    await expect(publishedRelease(engine, { deepCache: false })).rejects.toThrow('has no DeepCache');
});

describe('a distilled UNet of latentsync', () => {
  const asked = { timesteps: '951,701,401,151', guidance: '1.5' };

  test('is given to the exporter with what it was distilled to; the published one is not downloaded', async () => {
    const published = await publishedRelease('latentsync');
    const release = await publishedRelease('latentsync', { distilled: { from: 'a/b/c.pt', ...asked } });
    const place = ['--distilled', '{weights}/distilled/c.pt'];
    expect(release.exporter).toEqual([
      ...published.exporter,
      ...place,
      ...['--timesteps', '951,701,401,151', '--guidance', '1.5'],
    ]);
    expect(release.files.map(({ to }) => to)).not.toContain('latentsync_unet.pt');
    expect(release.licenses).toEqual([
      ...published.licenses,
      expect.objectContaining({ text: 'https://huggingface.co/a/b' }),
    ]);
    expect(release.model).toBe('1.6-4-steps');
  });

  test('may be a file that is there', async () => {
    const release = await publishedRelease('latentsync', { distilled: { from: __filename, ...asked } });
    expect(release.exporter).toContain(__filename);
    expect(release.files.map(({ to }) => to)).toEqual([
      'whisper/tiny.pt',
      'sd-vae-ft-mse/config.json',
      'sd-vae-ft-mse/diffusion_pytorch_model.safetensors',
    ]);
  });

  test('is refused of other engines, with DeepCache, and under an address that is none', async () => {
    const get = (from: string) => publishedRelease('latentsync', { distilled: { from, ...asked } });
    const distilled = { from: 'a/b/c.pt', ...asked };
    await expect(publishedRelease('highsync', { distilled })).rejects.toThrow(
      'no distilled network of highsync',
    );
    await expect(publishedRelease('latentsync', { distilled, deepCache: 2 })).rejects.toThrow(
      'too far apart',
    );
    for (const from of ['c.pt', 'a/c.pt', 'a/b/../c.pt', '/nowhere/c.pt'])
      await expect(get(from)).rejects.toThrow(`${from} is neither a local file nor one of the hub`);
  });
});
