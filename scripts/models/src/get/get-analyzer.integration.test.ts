/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { promisify } from 'node:util';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { decodeFaceTrack, type FaceTrack, openPackFor } from '@lipsync/engines';
import { startInference } from '@lipsync/gpu-worker';
import { packVersion } from '@lipsync/model-pack';
import { type HubServer, makeFaceVideo, startHubServer } from '@lipsync/testkit';
import { listPacks, verifyPack } from '../packs';
import { faceFindingNetwork } from '../test/dwpose-network';
import { folderDestination } from './destination';
import { type GetOptions, getPack } from './get-pack';
import { publishedRelease, type Release } from './published';

/** The compiled inference process: a child process cannot run TypeScript. */
const entry = path.resolve(__dirname, '../../../../services/gpu-worker/dist/inference/main.js');

const PACK = { half: false, provider: 'cpu', further: [] } as const;

describe('getting the published DWPose as a face analyzer', () => {
  let root: string;
  let packsDir: string;
  let hub: HubServer;
  let release: Release;

  beforeAll(async () => {
    root = await mkdtemp(path.join(tmpdir(), 'get-analyzer-'));
    packsDir = path.join(root, 'packs');
    await buildBuiltinPacks(packsDir);
    await makeFaceVideo(path.join(root, 'face.mp4'), { frames: 10, filters: 'null' });
    ({ hub, release } = await publish(Buffer.from(await faceFindingNetwork())));
  });
  afterAll(async () => {
    await hub.close();
    await rm(root, { recursive: true, force: true });
  });

  /** A hub that has this file under the published name. */
  async function publish(bytes: Buffer): Promise<{ hub: HubServer; release: Release }> {
    const published = await publishedRelease('analyzer', { model: 'dwpose' });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const files = published.files.map((file) => ({ ...file, bytes: bytes.length, sha256 }));
    const server = await startHubServer(
      files.map(({ repo, path: name }) => [`${repo}/${name}`, { bytes, large: true }]),
    );
    return { hub: server, release: { ...published, files } };
  }

  const get = (options: Partial<GetOptions> = {}) =>
    getPack({
      release,
      hub: { address: hub.address },
      exporter: { python: '/nowhere/python', programs: '/nowhere' },
      destination: folderDestination(packsDir, { replace: false }),
      cache: path.join(root, 'cache'),
      upstream: { address: 'unused' },
      consent: {
        terminal: { input: new PassThrough(), output: new PassThrough() },
        licensesAccepted: true,
        trusted: [],
      },
      pack: PACK,
      packsDir,
      checks: null,
      tell: () => undefined,
      pauseMs: 0,
      ...options,
    });

  async function trackOf(folder: string): Promise<FaceTrack> {
    const inference = await startInference({ packsDir: folder, entry });
    try {
      const trackPath = path.join(root, 'face.track');
      await inference.analyze({ videoPath: path.join(root, 'face.mp4'), trackPath });
      return decodeFaceTrack(await readFile(trackPath));
    } finally {
      inference.close();
    }
  }

  test('without Python it becomes a pack that finds the face, and serves in place of the built-in one', async () => {
    const before = await trackOf(packsDir);
    const row = await get();
    expect(row).toMatchObject({
      name: 'analyzer-dwpose',
      state: 'installed',
      weights: '1 by known digest',
    });
    const { row: verified } = await verifyPack(path.join(packsDir, 'analyzer-dwpose'), { entry });
    expect(verified).toMatchObject({ state: 'usable', runs_on: 'cpu' });
    const { manifest } = await openPackFor('analyzer', path.join(packsDir, 'analyzer-dwpose'));
    expect(manifest.license.spdx).toBe('MIT AND Apache-2.0');
    const states = new Map((await listPacks(packsDir)).map(({ folder, state }) => [folder, state]));
    expect(states.get('analyzer-dwpose')).toBe('serves');
    expect(states.get('analyzer')).toMatch(/^not used: analyzer-dwpose@1\.0\.0\+\w{12} serves analyzer$/);

    // What was cached of the other analyzer's tracks is not used: the name is part of the key.
    const after = await trackOf(packsDir);
    expect(after.analyzerVersion).toBe(
      packVersion(await openPackFor('analyzer', path.join(packsDir, 'analyzer-dwpose'))),
    );
    expect(after.analyzerVersion).not.toBe(before.analyzerVersion);
    expect(after.found).toEqual(before.found);
    // The same network behind DWPose's tensors: half a pixel of its input is 0.5 % of the face.
    const apart = Array.from(after.landmarks, (value, i) => Math.abs(value - (before.landmarks[i] ?? NaN)));
    expect(apart.reduce((sum, each) => sum + each, 0) / apart.length).toBeLessThan(1.5);
  });

  test('one that is made again takes the place of one of an older form, which is no longer used', async () => {
    const manifest = path.join(packsDir, 'analyzer-dwpose', 'pack.json');
    const { roles, ...rest } = JSON.parse(await readFile(manifest, 'utf8')) as Record<string, object>;
    const older = { ...rest, roles: { ...roles, voice: undefined } };
    await writeFile(manifest, JSON.stringify(older));
    const states = new Map((await listPacks(packsDir)).map(({ folder, state }) => [folder, state]));
    expect(states.get('analyzer-dwpose')).toContain('roles.voice');
    expect(await get({ destination: folderDestination(packsDir, { replace: true }) })).toMatchObject({
      state: 'installed',
    });
    const { manifest: made } = await openPackFor('analyzer', path.join(packsDir, 'analyzer-dwpose'));
    expect(made.roles.voice.file).toBe('voice.onnx');
  });

  test.each(['--license-accepted', '--licence-accepted'])(
    '%s of the command accepts the licenses',
    async (option) => {
      const command = path.resolve(__dirname, '../../dist/models.js');
      const where = [
        '--hub=http://127.0.0.1:9',
        `--cache=${path.join(root, option)}`,
        `--packs-dir=${packsDir}`,
      ];
      const to = `--to=${path.join(root, 'to')}`;
      const ended = promisify(execFile)(process.execPath, [command, 'get', 'analyzer', option, to, ...where]);
      await expect(ended).rejects.toMatchObject({
        stderr: expect.stringContaining('cannot be reached') as string,
      });
    },
  );

  test('options of the exporters are refused, and so is a graph that is another, before anything is installed', async () => {
    const destination = folderDestination(path.join(root, 'elsewhere'), { replace: false });
    await expect(get({ destination, pack: { ...PACK, half: true } })).rejects.toThrow(
      '--fp16, --device and --manifests',
    );
    const other = await publish(Buffer.from('a web page'));
    try {
      await expect(
        get({ destination, release: other.release, hub: { address: other.hub.address } }),
      ).rejects.toThrow("this is not DWPose's network");
    } finally {
      await other.hub.close();
    }
    await writeFile(path.join(root, 'cache', 'analyzer-dwpose', 'weights', 'dw-ll_ucoco_384.onnx'), 'x');
    await expect(listPacks(path.join(root, 'elsewhere'))).resolves.toEqual([]);
  });
});
