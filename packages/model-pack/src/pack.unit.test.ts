import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rememberDigests, sha256, sha256OfFile } from './pack';

describe('cached digests', () => {
  let folder: string;
  let file: string;
  let reads: number;
  let digestOf: (path: string) => Promise<string>;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'digests-'));
    file = join(folder, 'weights');
    reads = 0;
    digestOf = rememberDigests((path) => {
      reads++;
      return sha256OfFile(path);
    });
    await writeFile(file, 'one');
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  test('are computed once for a file that does not change', async () => {
    expect(await digestOf(file)).toBe(sha256(Buffer.from('one')));
    expect(await digestOf(file)).toBe(sha256(Buffer.from('one')));
    expect(reads).toBe(1);
  });

  test('are computed again for a file that was written to or replaced', async () => {
    await digestOf(file);
    await appendFile(file, '!');
    expect(await digestOf(file)).toBe(sha256(Buffer.from('one!')));
    await writeFile(join(folder, 'other'), 'two!');
    await rename(join(folder, 'other'), file);
    expect(await digestOf(file)).toBe(sha256(Buffer.from('two!')));
  });

  test('are not returned for a file that is gone', async () => {
    await digestOf(file);
    await rm(file);
    await expect(digestOf(file)).rejects.toThrow('ENOENT');
  });
});
