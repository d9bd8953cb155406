import { appendFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sha256, sha256OfFile } from './pack-digest';
import { rememberDigests } from './remember-digests';

describe('digests that are asked for again', () => {
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

  test('are read once from a file that stays what it is', async () => {
    expect(await digestOf(file)).toBe(sha256(Buffer.from('one')));
    expect(await digestOf(file)).toBe(sha256(Buffer.from('one')));
    expect(reads).toBe(1);
  });

  test('are read anew from a file that was written to, and from another one in its place', async () => {
    await digestOf(file);
    await appendFile(file, '!');
    expect(await digestOf(file)).toBe(sha256(Buffer.from('one!')));
    await writeFile(join(folder, 'other'), 'two!');
    await rename(join(folder, 'other'), file);
    expect(await digestOf(file)).toBe(sha256(Buffer.from('two!')));
  });

  test('of a file that is gone are not answered from memory', async () => {
    await digestOf(file);
    await rm(file);
    await expect(digestOf(file)).rejects.toThrow('ENOENT');
  });
});
