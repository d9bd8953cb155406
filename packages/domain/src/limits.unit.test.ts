import { openapiDocument } from '@lipsync/contract';
import {
  BODY_MAX_BYTES,
  customerLimits,
  DEFAULT_CUSTOMER_LIMITS,
  FAILED_AUTH_PER_MINUTE,
  IDEMPOTENCY_KEY_MAX_LENGTH,
  MEDIA_MAX_BYTES,
  RECORD_TTL_SECONDS,
  SIGNED_URL_SECONDS,
  TOMBSTONE_SECONDS,
} from './limits';

const unset = {
  postPerMinute: null,
  getPerMinute: null,
  activeRecordsMax: null,
  runningJobsMax: null,
  openUploadsMax: null,
};

describe('limits', () => {
  it('of the API are read from the OpenAPI document', () => {
    expect([MEDIA_MAX_BYTES, IDEMPOTENCY_KEY_MAX_LENGTH]).toEqual([268_435_456, 128]);
  });

  it('equal those that the API description promises', () => {
    const promised = openapiDocument.info.description.replaceAll(/\s+/g, ' ');
    const { postPerMinute, getPerMinute, activeRecordsMax, openUploadsMax } = DEFAULT_CUSTOMER_LIMITS;
    expect(promised).toContain(`${postPerMinute} POST and ${getPerMinute} GET requests per minute`);
    expect(promised).toContain(
      `${activeRecordsMax} active renders and preparations, ${openUploadsMax} open uploads`,
    );
    expect(promised).toContain(`A JSON body holds at most ${BODY_MAX_BYTES / 1024} KiB`);
    expect(promised).toContain(`after ${FAILED_AUTH_PER_MINUTE} in a minute they get 429`);
    expect(promised).toContain(`expire after ${RECORD_TTL_SECONDS / 86_400} days`);
    expect(promised).toContain(`addresses after ${SIGNED_URL_SECONDS / 60} minutes`);
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
