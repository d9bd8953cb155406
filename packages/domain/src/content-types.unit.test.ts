import { CONTENT_TYPES, uploadContentType } from './content-types';

describe('the content type of an upload', () => {
  it.each([
    ...CONTENT_TYPES.video.map((type) => ['video', type] as const),
    ...CONTENT_TYPES.audio.map((type) => ['audio', type] as const),
  ])('may be, for %s, %s in any case and with parameters', (mediaType, type) => {
    expect(uploadContentType(mediaType, type)).toBe(type);
    expect(uploadContentType(mediaType, ` ${type.toUpperCase()} ; codecs="avc1.42E01E, mp4a.40.2"`)).toBe(
      type,
    );
  });

  it.each([
    ['video', 'audio/mp4'],
    ['audio', 'video/mp4'],
    ['video', 'video/avi'],
    ['audio', 'audio/midi'],
    ['video', 'application/octet-stream'],
    ['video', 'text/html'],
    ['video', ''],
    ['video', 'video/mp4x'],
    ['video', ';video/mp4'],
  ] as const)('must not be, for %s, %j', (mediaType, type) => {
    expect(() => uploadContentType(mediaType, type)).toThrow(
      expect.objectContaining({ code: 'unsupported_content_type' }) as Error,
    );
  });
});
