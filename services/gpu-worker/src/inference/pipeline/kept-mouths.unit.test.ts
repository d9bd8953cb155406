import { FACE_TRACK_VERSION, type MouthExemplars, NO_MOUTHS } from '@lipsync/engines';
import { createKeptMouths } from './kept-mouths';

const track = { version: FACE_TRACK_VERSION, analyzerVersion: 'a', frames: 50 } as const;
const video = { videoKey: 'one', track, shown: 40 };

/** Keeps mouths, and counts how often they were cut. */
function counted() {
  const keep = createKeptMouths();
  let cuts = 0;
  const mouthsOf = (of: Parameters<typeof keep>[0]): Promise<MouthExemplars[]> =>
    keep(of, async () => {
      cuts++;
      return [{ ...NO_MOUTHS }];
    });
  return { mouthsOf, cuts: () => cuts };
}

test('another voice for the same video gets the same pictures, and nothing is cut again', async () => {
  const { mouthsOf, cuts } = counted();
  const first = await mouthsOf(video);
  expect(await mouthsOf({ ...video })).toBe(first);
  expect(cuts()).toBe(1);
});

test.each([
  ['another video', { ...video, videoKey: 'two' }],
  ['a video without a key', { ...video, videoKey: undefined }],
  ['an output that shows more of it', { ...video, shown: 41 }],
  ['a track of more of it', { ...video, track: { ...track, frames: 60 } }],
  ['a track of another analyzer', { ...video, track: { ...track, analyzerVersion: 'b' } }],
])('%s is cut on its own', async (_, other) => {
  const { mouthsOf, cuts } = counted();
  await mouthsOf(video);
  await mouthsOf(other);
  expect(cuts()).toBe(2);
});

test('nothing is kept of a video whose pictures could not be cut', async () => {
  const keep = createKeptMouths();
  await expect(keep(video, () => Promise.reject(new Error('damaged')))).rejects.toThrow('damaged');
  expect(await keep(video, async () => [NO_MOUTHS])).toEqual([NO_MOUTHS]);
});

test('of many videos the last used are kept', async () => {
  const { mouthsOf, cuts } = counted();
  const videos = ['one', 'two', 'three', 'four', 'five'].map((videoKey) => ({ ...video, videoKey }));
  for (const each of videos.slice(0, 4)) await mouthsOf(each);
  await mouthsOf(video);
  for (const each of videos.slice(4)) await mouthsOf(each);
  expect(cuts()).toBe(5);
  await mouthsOf(video);
  expect(cuts()).toBe(5);
  await mouthsOf({ ...video, videoKey: 'two' });
  expect(cuts()).toBe(6);
});
