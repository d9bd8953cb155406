import { openapiDocument } from '@lipsync/contract';
import {
  BODY_MAX_BYTES,
  CONTENT_TYPES,
  customerLimits,
  DEFAULT_CUSTOMER_LIMITS,
  enqueueCapacity,
  FAILED_AUTH_PER_MINUTE,
  ingestCap,
  SIGNED_URL_SECONDS,
  TOMBSTONE_SECONDS,
  uploadContentType,
} from './limits';

const unset = {
  postPerMinute: null,
  getPerMinute: null,
  activeRecordsMax: null,
  runningJobsMax: null,
  openUploadsMax: null,
};

describe('limits', () => {
  it('equal those that the API description promises', () => {
    const promised = openapiDocument.info.description.replaceAll(/\s+/g, ' ');
    const { postPerMinute, getPerMinute, activeRecordsMax, openUploadsMax } = DEFAULT_CUSTOMER_LIMITS;
    expect(promised).toContain(`${postPerMinute} POST and ${getPerMinute} GET requests per minute`);
    expect(promised).toContain(
      `${activeRecordsMax} active renders and preparations, ${openUploadsMax} open uploads`,
    );
    expect(promised).toContain(`A JSON body holds at most ${BODY_MAX_BYTES / 1024} KiB`);
    expect(promised).toContain(`after ${FAILED_AUTH_PER_MINUTE} in a minute they get 429`);
    expect(promised).toContain(`signed URLs live for at most ${SIGNED_URL_SECONDS / 60} minutes`);
    expect(promised).toContain(`answered with 410 for ${TOMBSTONE_SECONDS / 86_400} days`);
  });

  it('of a customer are the defaults unless it has its own, zero included', () => {
    expect(customerLimits(unset)).toEqual(DEFAULT_CUSTOMER_LIMITS);
    expect(customerLimits({ ...unset, postPerMinute: 7, openUploadsMax: 0 })).toEqual({
      ...DEFAULT_CUSTOMER_LIMITS,
      postPerMinute: 7,
      openUploadsMax: 0,
    });
  });
});

describe('limits of enqueueing', () => {
  it('allow one and a half jobs per live slot, rounded up, and none without slots', () => {
    expect([0, 1, 2, 3, 4, 16, 100].map(enqueueCapacity)).toEqual([0, 2, 3, 5, 6, 24, 150]);
  });

  it('leave one of several customers three quarters of the media slots, and never all of two or more', () => {
    expect([1, 2, 3, 4, 16, 100].map(ingestCap)).toEqual([1, 1, 2, 3, 12, 75]);
    for (let slots = 2; slots <= 1000; slots += 1) expect(ingestCap(slots)).toBeLessThan(slots);
  });
});

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
