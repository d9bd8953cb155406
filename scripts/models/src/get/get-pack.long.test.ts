import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { openPackFor } from '@lipsync/engines';
import { resolveBinaries } from '@lipsync/media';
import { startHubServer, testFolder } from '@lipsync/testkit';
import { folderDestination } from './destination';
import { getPack } from './get-pack';
import { publishedRelease } from './published';

/** The compiled inference process: a child process cannot run TypeScript. */
const entry = path.resolve(__dirname, '../../../../services/gpu-worker/dist/inference/main.js');
const programs = path.resolve(__dirname, '../../../export');

/** As scripts/export/run-tests.mjs: the distribution's may have torch though another Python comes first. */
const python = [process.env['LIPSYNC_PYTHON'] ?? 'python3', '/usr/bin/python3'].find(
  (command) => spawnSync(command, ['-c', 'import torch, onnx']).status === 0,
);
const where = python === undefined ? describe.skip : describe;

where('small networks under the published names, from a hub through the exporter', () => {
  const at = testFolder();

  beforeAll(async () => {
    runPython(path.join(programs, 'random_release.py'), 'musetalk', '--small', '--out', at());
    await buildBuiltinPacks(at('packs'));
  });

  function runPython(...args: string[]): void {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
    expect(spawnSync(python ?? '', args, { env, encoding: 'utf8' })).toMatchObject({ status: 0 });
  }

  /** Gets the files in `files` from a hub that states their digests, so that only the exporter can refuse them. */
  async function get(): Promise<unknown> {
    const published = await publishedRelease('musetalk');
    const files = await Promise.all(
      published.files.map(async (file) => {
        const bytes = await readFile(at('files', file.to));
        return { file, bytes, sha256: createHash('sha256').update(bytes).digest('hex') };
      }),
    );
    const hub = await startHubServer(
      files.map(({ file, bytes }) => [
        `${file.repo}/${file.path}`,
        { bytes, large: !file.path.endsWith('.json') },
      ]),
    );
    const { ffmpeg } = await resolveBinaries(process.env);
    try {
      return await getPack({
        release: {
          ...published,
          files: files.map(({ file, bytes, sha256 }) => ({ ...file, bytes: bytes.length, sha256 })),
        },
        hub: { address: hub.address },
        exporter: { python: python ?? '', programs },
        destination: folderDestination(at('packs'), { replace: true }),
        cache: at('cache'),
        upstream: { given: at('upstream'), address: '' },
        consent: {
          terminal: { input: process.stdin, output: process.stderr },
          licensesAccepted: true,
          trusted: [],
        },
        pack: { half: true, provider: 'cpu', further: ['--manifests', at('manifests')] },
        packsDir: at('packs'),
        checks: { ffmpeg, entry },
        tell: () => undefined,
      });
    } finally {
      await hub.close();
    }
  }

  test('become a pack that serves and renders', async () => {
    expect(await get()).toMatchObject({
      name: 'musetalk-1.5',
      state: 'installed',
      provider: 'cpu',
      rendered_frames: 75,
    });
    const { params } = (await openPackFor('musetalk', at('packs', 'musetalk-1.5'))).manifest;
    expect(params).toMatchObject({ resolution: 256, audio: { whisper: 'hf', width: 8 } });
  }, 300_000);

  test('are refused without running it if one hides a pickle that torch finds and a zip reader does not', async () => {
    runPython('-c', HIDE_PICKLE, at('files', 'musetalkV15', 'unet.pth'), at('made-by-a-pickle'));
    await expect(get()).rejects.toThrow('the exporter failed');
    await expect(access(at('made-by-a-pickle'))).rejects.toThrow('ENOENT');
  }, 300_000);
});

/** Puts a pickle that makes a folder into DATA.PKL, and what the file held below a second folder. */
const HIDE_PICKLE = `
import os, sys, torch, zipfile

class Payload:
    def __reduce__(self):
        return os.mkdir, (sys.argv[2],)

def records(path):
    with zipfile.ZipFile(path) as archive:
        return {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}

clean = records(sys.argv[1])
torch.save({**torch.load(sys.argv[1]), "more": Payload()}, sys.argv[1])
hidden = records(sys.argv[1])
with zipfile.ZipFile(sys.argv[1], "w") as archive:
    for name, content in hidden.items():
        archive.writestr("archive/" + name.replace("data.pkl", "DATA.PKL"), content)
    for name, content in clean.items():
        archive.writestr("archive/zz/" + name, content)
`;
