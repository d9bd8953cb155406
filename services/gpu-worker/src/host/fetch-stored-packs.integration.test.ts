import { access, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { buildAnalyzerPack } from '@lipsync/builtin-packs';
import { createLogger } from '@lipsync/runtime';
import { StorageError } from '@lipsync/storage';
import { fetchStoredPacks } from './fetch-stored-packs';

test('a pack that lacks a file is refused for that, and cleared away once the others are no longer written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'stored-packs-'));
  const packsDir = await mkdtemp(join(folder, 'packs-'));
  try {
    await buildAnalyzerPack(join(folder, 'source/analyzer'));
    let files = 0;
    const writes: boolean[] = [];
    const fetching = fetchStoredPacks({
      storage: {
        list: async function* () {
          yield* [];
        },
        getBuffer: (key) => readFile(join(folder, 'source', key)),
        getToFile: async (key, file, { signal } = {}) => {
          if (files++ === 0) throw new StorageError('not_found', basename(key));
          // A transfer that is told to stop still has its last bytes on the way to the disk.
          for (let write = 0; write < 200; write++) {
            const isThere = await access(dirname(file)).then(
              () => true,
              () => false,
            );
            writes.push(isThere);
          }
          throw signal?.reason;
        },
      },
      prefix: '',
      packsDir,
      names: ['analyzer'],
      engines: [],
      signal: new AbortController().signal,
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    await expect(fetching).rejects.toMatchObject({ name: 'PackError', reason: 'file_missing' });
    expect(await readdir(packsDir)).toEqual([]);
    expect(writes.length).toBeGreaterThan(0);
    expect(writes).not.toContain(false);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
