import { graphThreads } from './graph-threads';
import { type Pack } from '@lipsync/engines';
import { writeHighsyncPack } from '@lipsync/engines/test';
import { packFiles } from '@lipsync/model-pack';
import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

describe('threads inside a graph', () => {
  let folder: string;
  let light: Pack;
  let heavy: Pack;

  const packOf = async (name: string, bytes?: number): Promise<Pack> => {
    const pack = await writeHighsyncPack(path.join(folder, name), {});
    const [file = ''] = packFiles(pack.manifest);
    // Enlarges the file with a hole, which takes no disk space.
    if (bytes !== undefined) await truncate(path.join(pack.dir, file), bytes);
    return pack;
  };

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'graph-threads-'));
    light = await packOf('light');
    heavy = await packOf('heavy', 3.8e9);
  });
  afterAll(() => rm(folder, { recursive: true }));

  test('leave half of the cores to the codecs, unless the codecs wait for heavy networks', async () => {
    expect(await graphThreads(light, 'cpu', 16)).toBe(8);
    expect(await graphThreads(heavy, 'cpu', 16)).toBe(16);
  });

  test('leave half of the cores to them when a GPU computes, however heavy the networks are', async () => {
    expect(await graphThreads(heavy, 'cuda', 16)).toBe(8);
  });

  test('are at least one', async () => {
    expect(await graphThreads(light, 'cpu', 1)).toBe(1);
    expect(await graphThreads(heavy, 'cpu', 1)).toBe(1);
  });
});
