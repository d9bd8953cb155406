import { MAX_BYTES } from './media-limits';
import { sortFiles } from './sort-files';

const file = (name: string, type = '', size = 1000) => ({ name, type, size });
const video = file('face.mov', 'video/quicktime');
const voice = file('voice.wav', 'audio/wav');
const film = file('film.mkv');

describe('files that are dropped', () => {
  it.each([
    ['beside both fields', null],
    ['on the video', 'video'],
    ['on the voice', 'audio'],
  ] as const)('%s all at once, go each into its own field', (_where, onto) => {
    expect(sortFiles([voice, video], onto)).toEqual({ files: { video, audio: voice }, refused: {} });
  });

  it('go where they are dropped, if they can: a film may be a voice, but no voice is a video', () => {
    expect(sortFiles([film], 'audio').files).toEqual({ audio: film });
    expect(sortFiles([film], null).files).toEqual({ video: film });
    expect(sortFiles([voice], 'video').files).toEqual({ audio: voice });
    expect(sortFiles([file('voice.webm', 'audio/webm')], 'video').files).toHaveProperty('audio');
  });

  it('are refused by name and with a reason, beside those that are taken', () => {
    const notes = file('notes.txt', 'text/plain');
    expect(sortFiles([notes], 'audio')).toEqual({
      files: {},
      refused: { audio: expect.stringMatching(/^notes\.txt is not sound/) as string },
    });
    expect(sortFiles([video, notes], null)).toEqual({
      files: { video },
      refused: { video: expect.stringMatching(/^notes\.txt is neither video nor sound/) as string },
    });
    expect(sortFiles([file('long.mp4', '', MAX_BYTES + 1)], null).refused.video).toMatch(
      /^long\.mp4 .*256 MiB/,
    );
    expect(sortFiles([video, film], null)).toEqual({
      files: { video },
      refused: { video: expect.stringContaining('film.mkv was left out') as string },
    });
  });
});
