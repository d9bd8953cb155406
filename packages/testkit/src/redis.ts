import { randomBytes } from 'node:crypto';
import { REDIS_VARIABLE } from './test-run';

/**
 * The Redis that the test run shares. Use it with `testPrefix()`. Tests that stop Redis start their own with
 * startRedis.
 */
export function testRedisUrl(): string {
  const url = process.env[REDIS_VARIABLE];
  if (url === undefined) throw new Error('no Redis: is this an integration test?');
  return url;
}

/** A name that no other test uses. */
export function testPrefix(): string {
  return `test-${randomBytes(8).toString('hex')}`;
}
