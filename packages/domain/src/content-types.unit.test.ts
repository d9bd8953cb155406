import { openapiDocument } from '@lipsync/contract';
import { CONTENT_TYPES, uploadContentType } from './content-types';

describe('the content type of an upload', () => {
  it.each([
    ...CONTENT_TYPES.video.map((type) => ['video', type] as const),
    ...CONTENT_TYPES.audio.map((type) => ['audio', type] as const),
  ])('accepts for %s: %s, in any case and with parameters', (mediaType, type) => {
    expect(uploadContentType(mediaType, type)).toBe(type);
    expect(uploadContentType(mediaType, ` ${type.toUpperCase()} ; codecs="avc1.42E01E, mp4a.40.2"`)).toBe(
      type,
    );
  });

  it('is one of those that the contract lists', () => {
    const { description } = openapiDocument.components.schemas.UploadRequest.properties.content_type;
    const named = (mediaType: string) => description.match(new RegExp(`${mediaType}/[a-z0-9-]+`, 'g'));
    expect({ video: named('video'), audio: named('audio') }).toEqual(CONTENT_TYPES);
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
  ] as const)('refuses for %s: %j', (mediaType, type) => {
    expect(() => uploadContentType(mediaType, type)).toThrow(
      expect.objectContaining({ code: 'unsupported_content_type' }) as Error,
    );
  });
});
