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

test('the least recently used model makes room', async () => {
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

test('a model that cannot be loaded leaves no trace', async () => {
  const cache = createModelCache<string>(100, async () => undefined);
  const broken = { bytes: 50, load: () => Promise.reject(new Error('broken')) };
  await expect(cache.get('a', async () => broken)).rejects.toThrow('broken');
  await expect(cache.get('a', async () => ({ bytes: 50, load: async () => 'mended' }))).resolves.toBe(
    'mended',
  );
});
