import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { openPackFor } from '@lipsync/engines';
import { resolveBinaries } from '@lipsync/media';
import { startHubServer } from '@lipsync/testkit';
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
const where = python === undefined ? test.skip : test;

where(
  'small networks under the published names go from a hub through the exporter to a pack that serves and renders',
  async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'get-pack-long-'));
    const at = (...names: string[]): string => path.join(root, ...names);
    try {
      const made = spawnSync(
        python ?? '',
        [path.join(programs, 'random_release.py'), 'musetalk', '--small', '--out', root],
        {
          env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
          encoding: 'utf8',
        },
      );
      expect(made).toMatchObject({ status: 0 });
      await buildBuiltinPacks(at('packs'));
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
      const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
      const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
      try {
        const row = await getPack({
          release: {
            ...published,
            files: files.map(({ file, bytes, sha256 }) => ({ ...file, bytes: bytes.length, sha256 })),
          },
          hub: { address: hub.address },
          exporter: { python: python ?? '', programs },
          destination: folderDestination(at('packs'), { replace: false }),
          cache: at('cache'),
          upstream: { given: at('upstream'), address: '' },
          licence: { accepted: true, terminal: { input: process.stdin, output: process.stderr } },
          half: true,
          provider: 'cpu',
          options: ['--manifests', at('manifests')],
          packsDir: at('packs'),
          checks: { ffmpeg, entry },
          tell: () => undefined,
        });
        expect(row).toMatchObject({
          name: 'musetalk-1.5',
          state: 'installed',
          provider: 'cpu',
          rendered_frames: 75,
        });
        const { params } = (await openPackFor('musetalk', at('packs', 'musetalk-1.5'))).manifest;
        expect(params).toMatchObject({ resolution: 256, audio: { whisper: 'hf', width: 8 } });
      } finally {
        await hub.close();
      }
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  },
  300_000,
);
