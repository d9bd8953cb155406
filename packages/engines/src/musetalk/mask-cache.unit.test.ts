import { createMaskCache } from './mask-cache';

describe('mask cache', () => {
  /** A cache whose masks hold the frame number in their first cell; records which were made. */
  const numbered = (capacity: number) => {
    const cache = createMaskCache(capacity);
    const made: number[] = [];
    const get = (frame: number) =>
      cache.get(frame, (mask) => {
        made.push(frame);
        mask[0] = frame;
      });
    return { get, made, find: (frame: number) => cache.find(frame) };
  };

  test('a clip that loops within the capacity makes every mask once', () => {
    const { get, made } = numbered(4);
    for (let i = 0; i < 40; i++) expect(get(i % 4)[0]).toBe(i % 4);
    expect(made).toEqual([0, 1, 2, 3]);
  });

  test('memory stays within the capacity for any number of frames, and the least recently used mask is evicted', () => {
    const { get, made } = numbered(3);
    const arrays = new Set<Float32Array>();
    for (let i = 0; i < 30; i++) arrays.add(get(i));
    expect(arrays.size).toBe(3);
    get(27);
    get(30);
    made.length = 0;
    get(27);
    get(29);
    get(28);
    expect(made).toEqual([28]);
  });

  test('looking up a mask makes none, and counts as a use of one that is cached', () => {
    const { get, find, made } = numbered(2);
    expect(find(1)).toBeUndefined();
    get(1);
    get(2);
    expect(find(1)?.[0]).toBe(1);
    get(3);
    expect([find(1)?.[0], find(2)]).toEqual([1, undefined]);
    expect(made).toEqual([1, 2, 3]);
  });

  test('a mask stays unchanged until as many others were requested as fit', () => {
    const { get } = numbered(3);
    const held = get(7);
    get(8);
    get(9);
    expect(held[0]).toBe(7);
  });
});
