import { isIP } from 'node:net';
import { z } from 'zod';
import { parseEgressRoutes } from './egress/dial';

const LARGEST_PORT = 65_535;

export const url = z.url('must be a URL');
/** Paths are appended, so a trailing slash would appear twice. */
export const baseUrl = url.transform((text) => text.replace(/\/+$/, ''));
export const path = z.string().min(1);

/** A setting that is a count. */
export const wholeNumber = (smallest: number, largest = Number.MAX_SAFE_INTEGER) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(smallest).max(largest));

/** Longer than any wait. A Node timer that is set for 25 days or more fires at once. */
const TIMER_SECONDS_MAX = 86_400;

/** A duration: how long something may take, or is waited for. */
export const timerSeconds = (smallest: number) => wholeNumber(smallest, TIMER_SECONDS_MAX);

export const port = wholeNumber(0, LARGEST_PORT);

export const ipAddress = z.string().refine((text) => isIP(text) !== 0, 'must be an IP address');

export const masterKey = z.string().regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits');

export const boolean = z
  .enum(['true', 'false'], 'must be true or false')
  .transform((text) => text === 'true');

const commaList = z.string().transform((text) => text.split(',').map((item) => item.trim()));

/** A comma-separated subset of these words. */
export const listOf = <Word extends string>(words: readonly Word[]) =>
  commaList.pipe(z.array(z.enum(words, `must be of ${words.join(', ')}`)));

/** Seconds, separated by commas. */
export const secondsList = commaList.pipe(
  z.array(
    z
      .string()
      .regex(/^\d+(\.\d+)?$/, 'must be a comma-separated list of seconds')
      .transform(Number),
  ),
);

export const egressRoutes = z.string().transform((text, context) => {
  try {
    return parseEgressRoutes(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: error instanceof Error ? error.message : 'is malformed' });
    return z.NEVER;
  }
});
