import {
  customerLimits,
  DEFAULT_CUSTOMER_LIMITS,
  IDEMPOTENCY_KEY_MAX_LENGTH,
  MEDIA_MAX_BYTES,
} from './limits';

const unset = {
  postPerMinute: null,
  getPerMinute: null,
  activeRecordsMax: null,
  runningJobsMax: null,
  openUploadsMax: null,
};

describe('limits', () => {
  it('of the interface are read from its document', () => {
    expect([MEDIA_MAX_BYTES, IDEMPOTENCY_KEY_MAX_LENGTH]).toEqual([268_435_456, 128]);
  });

  it('of a customer are the defaults, except where it has its own, zero included', () => {
    expect(customerLimits(unset)).toEqual(DEFAULT_CUSTOMER_LIMITS);
    expect(customerLimits({ ...unset, postPerMinute: 7, openUploadsMax: 0 })).toEqual({
      ...DEFAULT_CUSTOMER_LIMITS,
      postPerMinute: 7,
      openUploadsMax: 0,
    });
  });
});
