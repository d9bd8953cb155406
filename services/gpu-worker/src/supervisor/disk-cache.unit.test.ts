import { createHash } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { testFolder } from '@lipsync/testkit';
import { CacheMismatch, createDiskCache, type DiskCache } from './disk-cache';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');
const own = (text: string) => ({ customerId: 'cus_a', sha256: sha256(text) });
const nameOf = (text: string): string => `cus_a-${sha256(text)}`;
const fetched = (text: string) => (path: string) => writeFile(path, text);
const unexpected = (): Promise<never> => Promise.reject(new Error('fetched again'));

/** Makes links, but of the one to `held` it tells that it has `begun`, and waits for `goOn`. */
function linkHeldAt(held: string) {
  const gate = new EventEmitter();
  const [begun, mayGoOn] = [once(gate, 'begun'), once(gate, 'go on')];
  return {
    begun,
    goOn: () => gate.emit('go on'),
    link: async (existing: string, name: string): Promise<void> => {
      if (name === held) {
        gate.emit('begun');
        await mayGoOn;
      }
      await link(existing, name);
    },
  };
}

describe('disk cache', () => {
  const at = testFolder({ each: true });
  let folder: string;
  const target = (name: string): string => at(name);

  beforeEach(async () => {
    folder = at('cache');
  });

  /** Caches two files of four bytes, uses the older one again, then adds a third. */
  async function useOneAgain(cache: DiskCache): Promise<void> {
    await cache.place(own('aaaa'), target('a'), fetched('aaaa'));
    await cache.place(own('bbbb'), target('b'), fetched('bbbb'));
    // Explicit ages, independent of the resolution of the file system's clock.
    await utimes(join(folder, nameOf('aaaa')), 1000, 1000);
    await utimes(join(folder, nameOf('bbbb')), 2000, 2000);
    await cache.place(own('aaaa'), target('a2'), unexpected);
    await cache.place(own('cccc'), target('c'), fetched('cccc'));
  }

  test('what is known nowhere else any more is forgotten, except by the job that uses it', async () => {
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    await cache.forget(unexpected);
    await cache.place(own('erased'), target('a'), fetched('erased'));
    await cache.place(own('kept'), target('b'), fetched('kept'));
    await cache.forget(async (there) => {
      expect(new Set(there)).toEqual(new Set([own('erased'), own('kept')]));
      return [own('erased')];
    });
    expect(await readdir(folder)).toEqual([nameOf('kept')]);
    expect(await readFile(target('a'), 'utf8')).toBe('erased');
  });

  test('a second job gets the same content without fetching it again', async () => {
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    expect(await cache.place(own('video'), target('a'), fetched('video'))).toBe('fetched');
    expect(await cache.place(own('video'), target('b'), unexpected)).toBe('hit');
    expect(await readFile(target('b'), 'utf8')).toBe('video');
  });

  test('another customer’s file with the same content is fetched, so its timing does not reveal the first one', async () => {
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    await cache.place(own('video'), target('a'), fetched('video'));
    const others = { ...own('video'), customerId: 'cus_b' };
    expect(await cache.place(others, target('b'), fetched('video'))).toBe('fetched');
  });

  test('jobs that want the same content at once share one fetch; a stopped one waits for none, and the fetch continues for the others', async () => {
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    const store = new EventEmitter();
    const slow = async (path: string): Promise<void> => {
      store.emit('asked');
      await once(store, 'answers');
      await writeFile(path, 'video');
    };
    const asked = once(store, 'asked');
    const stop = new AbortController();
    const stopped = cache.place(own('video'), target('a'), slow, stop.signal);
    await asked;
    const waiting = cache.place(own('video'), target('b'), unexpected);
    stop.abort(new Error('cancelled'));
    await expect(stopped).rejects.toThrow('cancelled');
    await expect(cache.place(own('video'), target('c'), unexpected, stop.signal)).rejects.toThrow(
      'cancelled',
    );
    store.emit('answers');
    expect(await waiting).toBe('fetched');
    expect(existsSync(target('a'))).toBe(false);
  });

  test('the least recently used content is evicted when the limit is exceeded, and jobs keep their files', async () => {
    await useOneAgain(await createDiskCache({ folder, maxBytes: 8 }));
    expect((await readdir(folder)).sort()).toEqual([nameOf('aaaa'), nameOf('cccc')].sort());
    expect(await readFile(target('b'), 'utf8')).toBe('bbbb');
  });

  test('a full disk costs what no job is using or placing', async () => {
    const { begun, goOn, link } = linkHeldAt(target('placing'));
    const cache = await createDiskCache({ folder, maxBytes: 1000, link });
    await cache.place(own('idle'), target('idle'), fetched('idle'));
    await rm(target('idle'));
    await cache.place(own('used'), target('used'), fetched('used'));
    const placing = cache.place(own('placing'), target('placing'), fetched('placing'));
    await begun;
    let attempts = 0;
    const onFullDisk = async (path: string): Promise<void> => {
      await writeFile(path, 'video');
      if (++attempts === 1) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    };
    expect(await cache.place(own('video'), target('video'), onFullDisk)).toBe('fetched');
    expect((await readdir(folder)).sort()).toEqual(['used', 'placing', 'video'].map(nameOf).sort());
    goOn();
    await placing;
  });

  test('a disk that stays full fails the job, after one more attempt', async () => {
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    let attempts = 0;
    const full = Object.assign(new Error('no space left'), { code: 'ENOSPC' });
    const placing = cache.place(own('video'), target('a'), async () => {
      attempts++;
      throw full;
    });
    await expect(placing).rejects.toBe(full);
    expect(attempts).toBe(2);
  });

  test('content larger than the whole cache is placed but not kept', async () => {
    const cache = await createDiskCache({ folder, maxBytes: 3 });
    await cache.place(own('large'), target('a'), fetched('large'));
    expect(await readFile(target('a'), 'utf8')).toBe('large');
    expect(await readdir(folder)).toEqual([]);
  });

  test('bytes that do not match the recorded digest are refused and never placed or kept', async () => {
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    const placing = cache.place(own('video'), target('a'), fetched('something else'));
    await expect(placing).rejects.toBeInstanceOf(CacheMismatch);
    expect(existsSync(target('a'))).toBe(false);
    expect(await readdir(folder)).toEqual([]);
  });

  test('a failed fetch leaves nothing behind and does not affect the next one', async () => {
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    const fails = async (path: string): Promise<void> => {
      await writeFile(path, 'vid');
      throw new Error('connection lost');
    };
    await expect(cache.place(own('video'), target('a'), fails)).rejects.toThrow('connection lost');
    expect(await readdir(folder)).toEqual([]);
    expect(await cache.place(own('video'), target('a'), fetched('video'))).toBe('fetched');
  });

  test('a new process keeps complete files and removes unfinished ones', async () => {
    const first = await createDiskCache({ folder, maxBytes: 1000 });
    await first.place(own('video'), target('a'), fetched('video'));
    await writeFile(join(folder, 'partial-1'), 'vid');

    const second = await createDiskCache({ folder, maxBytes: 1000 });
    expect(await readdir(folder)).toEqual([nameOf('video')]);
    expect(await second.place(own('video'), target('b'), unexpected)).toBe('hit');
    expect((await stat(target('b'))).nlink).toBeGreaterThan(1);
  });

  test('a truncated file that an earlier process left under its final name is not taken for complete', async () => {
    await mkdir(folder);
    await writeFile(join(folder, nameOf('video')), 'vid');
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    expect(await cache.place(own('video'), target('a'), fetched('video'))).toBe('fetched');
    expect(await readFile(target('a'), 'utf8')).toBe('video');
  });

  test('a file of an earlier process is read to the end once, and not again for every job', async () => {
    await mkdir(folder);
    await writeFile(join(folder, nameOf('video')), 'video');
    const cache = await createDiskCache({ folder, maxBytes: 1000 });
    await cache.place(own('video'), target('a'), unexpected);
    // Whoever read it now would take it for damaged.
    await writeFile(join(folder, nameOf('video')), 'changed');
    expect(await cache.place(own('video'), target('b'), unexpected)).toBe('hit');
  });

  test('what one job is placing is not evicted by another, and afterwards not kept beyond the limit', async () => {
    const { begun, goOn, link } = linkHeldAt(target('a'));
    const cache = await createDiskCache({ folder, maxBytes: 0, link });
    const placing = cache.place(own('aaaa'), target('a'), fetched('aaaa'));
    await begun;
    await cache.place(own('bbbb'), target('b'), fetched('bbbb'));
    goOn();
    expect(await placing).toBe('fetched');
    expect(await readFile(target('a'), 'utf8')).toBe('aaaa');
    expect(await readdir(folder)).toEqual([]);
  });

  test.each(['EPERM', 'EMLINK', 'ENOTSUP', 'EXDEV'])(
    'where a hard link fails with %s content is copied, and its reuse counts as use',
    async (code) => {
      const link = () => Promise.reject(Object.assign(new Error('no link'), { code }));
      await useOneAgain(await createDiskCache({ folder, maxBytes: 10, link }));
      expect((await readdir(folder)).sort()).toEqual([nameOf('aaaa'), nameOf('cccc')].sort());
      for (const name of ['a', 'a2']) {
        expect(await readFile(target(name), 'utf8')).toBe('aaaa');
        expect((await stat(target(name))).nlink).toBe(1);
      }
    },
  );

  test('a link that fails for any other reason is an error, not a copy', async () => {
    const link = () => Promise.reject(Object.assign(new Error('disk full'), { code: 'ENOSPC' }));
    const cache = await createDiskCache({ folder, maxBytes: 1000, link });
    await expect(cache.place(own('video'), target('a'), fetched('video'))).rejects.toThrow('disk full');
  });
});
