import * as domain from '@lipsync/domain';
import {
  contentTypeOf,
  durationProblem,
  fileProblem,
  formatBytes,
  formatSeconds,
  MAX_BYTES,
  MAX_SECONDS,
  urlProblem,
} from './media-limits';

const file = (name: string, type = '', size = 1000) => ({ name, type, size });

describe('the limits of media', () => {
  it('are those of the service', () => {
    expect(MAX_BYTES).toBe(domain.MEDIA_MAX_BYTES);
    expect(MAX_SECONDS).toBe(domain.MEDIA_MAX_SECONDS);
  });

  it('admit what the service admits, and nothing else', () => {
    expect(fileProblem('video', file('a.mp4', 'video/mp4', MAX_BYTES))).toBeNull();
    expect(fileProblem('video', file('a.mp4', 'video/mp4', MAX_BYTES + 1))).toContain('256 MiB');
    expect(fileProblem('video', file('a.mp4', 'video/mp4', 0))).toContain('empty');
    expect(fileProblem('audio', file('notes.txt', 'text/plain'))).toMatch(/notes\.txt is not sound.*WAV/);
    expect(durationProblem('video', 300)).toBeNull();
    expect(durationProblem('audio', 301)).toContain('5:01');
  });

  it.each([
    ['audio', file('voice', 'audio/webm;codecs=opus'), 'audio/webm'],
    ['audio', file('voice.MP3'), 'audio/mpeg'],
    ['audio', file('clip.mp4', 'video/mp4'), 'audio/mp4'],
    ['video', file('clip.mkv', 'application/octet-stream'), 'video/x-matroska'],
    ['video', file('00001.MTS', 'video/mp2t'), 'video/mp4'],
    ['audio', file('voice.aif', 'audio/x-aiff'), 'audio/wav'],
    ['video', file('clip.avi', 'video/avi'), null],
  ] as const)('declare a %s file %j as %s', (mediaType, media, type) => {
    expect(contentTypeOf(mediaType, media)).toBe(type);
  });

  it('admit public URLs, with the port named or not', () => {
    expect(urlProblem('https://example.com/a.mp4')).toBeNull();
    expect(urlProblem('https://example.com:443/a.mp4')).toBeNull();
  });

  it.each([
    ['http://example.com/a.mp4', 'https://'],
    ['example.com/a.mp4', 'https://'],
    ['https://example.com:8443/a.mp4', 'port'],
    ['https://me:secret@example.com/a.mp4', 'password'],
  ])('refuse the URL %s, because of %s', (url, problem) => {
    expect(urlProblem(url)).toContain(problem);
  });
});

it('writes sizes and durations as people do', () => {
  expect([0, 400, 1_500_000, 25_000_000].map(formatBytes)).toEqual(['0 kB', '1 kB', '1.5 MB', '25 MB']);
  expect([8.64, 59.96, 125].map(formatSeconds)).toEqual(['8.6 s', '1:00', '2:05']);
});
