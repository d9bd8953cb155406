import { createModelCache } from './model-cache';

function cacheOf(maxBytes: number) {
  const released: string[] = [];
  const loaded: string[] = [];
  const cache = createModelCache<string>(maxBytes, async (model) => void released.push(model));
  const get = (key: string, bytes: number) =>
    cache.get(key, async () => ({
      bytes,
      load: async () => {
        loaded.push(key);
        return key;
      },
    }));
  return { get, released, loaded };
}

test('models that fit together are loaded once', async () => {
  const { get, loaded, released } = cacheOf(100);
  for (const key of ['a', 'b', 'a', 'b']) await get(key, 50);
  expect(loaded).toEqual(['a', 'b']);
  expect(released).toEqual([]);
});

test('the least recently used model is evicted', async () => {
  const { get, released } = cacheOf(100);
  await get('a', 50);
  await get('b', 50);
  await get('a', 50);
  await get('c', 50);
  expect(released).toEqual(['b']);
});

test('a model larger than the cache is kept alone until the next one comes', async () => {
  const { get, loaded, released } = cacheOf(100);
  await get('small', 10);
  await get('huge', 500);
  await get('huge', 500);
  expect(loaded).toEqual(['small', 'huge']);
  expect(released).toEqual(['small']);
  await get('small', 10);
  expect(released).toEqual(['small', 'huge']);
});

describe('a model that does not fit in memory', () => {
  const shortage = new Error('out of memory');
  /** A cache in which a model loads only while at most `most` others are kept. */
  const cacheThatHolds = (most: number) => {
    const kept = new Set<string>();
    const cache = createModelCache<string>(
      100,
      async (model) => void kept.delete(model),
      (error) => error === shortage,
    );
    const get = (key: string) =>
      cache.get(key, async () => ({
        bytes: 10,
        load: async () => {
          if (kept.size >= most) throw shortage;
          kept.add(key);
          return key;
        },
      }));
    return { get, kept, cache };
  };

  test('is loaded once the others are released', async () => {
    const { get, kept } = cacheThatHolds(2);
    for (const key of ['a', 'b', 'c']) await get(key);
    expect([...kept]).toEqual(['c']);
  });

  test('is not retried when there is nothing to release', async () => {
    const { get } = cacheThatHolds(0);
    await expect(get('a')).rejects.toBe(shortage);
  });

  test('costs the others nothing when it is not memory that it lacks', async () => {
    const { get, kept, cache } = cacheThatHolds(2);
    await get('a');
    const load = () => Promise.reject(new Error('broken'));
    await expect(cache.get('b', async () => ({ bytes: 10, load }))).rejects.toThrow('broken');
    expect([...kept]).toEqual(['a']);
  });

  test('loads normally after everything was released', async () => {
    const { get, kept, cache } = cacheThatHolds(2);
    await get('a');
    await cache.clear();
    expect([...kept]).toEqual([]);
    await get('a');
    expect([...kept]).toEqual(['a']);
  });
});

test('a model that cannot be loaded leaves no trace', async () => {
  const cache = createModelCache<string>(100, async () => undefined);
  const broken = { bytes: 50, load: () => Promise.reject(new Error('broken')) };
  await expect(cache.get('a', async () => broken)).rejects.toThrow('broken');
  await expect(cache.get('a', async () => ({ bytes: 50, load: async () => 'mended' }))).resolves.toBe(
    'mended',
  );
});
