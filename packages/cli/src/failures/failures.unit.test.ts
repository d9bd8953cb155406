import { readFile } from 'node:fs/promises';
import {
  ApiError,
  ConnectionError,
  LipSyncError,
  TimeoutError,
  UnexpectedResponse,
  verifyWebhook,
} from '@lipsync/client';
import { ERROR_CATALOGUE } from '@lipsync/contract';
import { type EXIT_CODES } from './exit-codes';
import { failureOf } from './failures';

/** Words of those who write programs: of requests, their fields and this client's arguments. */
const FOREIGN =
  /\b(pass(?!word)|signal|fetch|TypeError|undefined|bearer|header|request|schema|body|field|(GET|POST) \/|[a-z]+_(url|id|bytes|type)\b)|\/v1\/|(create|send) (it|the|a|an) |create a new/i;

// The service never sends what the catalogue says of invalid_request, but what is wrong, and where.
const refusals = Object.entries(ERROR_CATALOGUE).filter(
  ([code, { where }]) => code !== 'invalid_request' && (where as readonly string[]).includes('request'),
);
const refused = (code: string, message: string, status: number | null = 400) =>
  failureOf(
    new ApiError({
      status: status ?? 400,
      error: { code, message, retryable: false },
      requestId: 'req-1',
      retryAfterSeconds: undefined,
    }),
  );

it.each(refusals)('%s is told in the words of the command', (code, { message }) => {
  const failure = refused(code, message);
  expect(`${failure.message} ${failure.advice ?? ''}`.replace('The request was req-1.', '')).not.toMatch(
    FOREIGN,
  );
  expect(failure.code).toBe(code);
});

it.each([
  ['/webhook_url must begin with https://. Use a public one.', 'invalid_webhook_url', '--webhook must begin'],
  ['/video/url must name a public host.', 'invalid_media_url', 'The video must name'],
  ['/preparation_id must be text.', 'invalid_request', '--preparation must be'],
])('a place in a request is what the user typed: %s', (message, code, expected) => {
  expect(refused(code, message).message).toContain(expected);
});

it('names the request of a fault, by which the operator finds it', () => {
  expect(refused('internal_error', 'x').advice).toContain('req-1');
});

const refusal = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
it.each<[Error, string, keyof typeof EXIT_CODES]>([
  [
    new ConnectionError('GET /v1/renders/ren_1', 'was not answered: fetch failed', {
      cause: new TypeError('fetch failed', { cause: refusal }),
    }),
    'The service does not answer (connect ECONNREFUSED 127.0.0.1:1).',
    'later',
  ],
  [new ConnectionError('upload', 'stalled'), 'The upload was cut off.', 'later'],
  [
    new TimeoutError('POST /v1/renders took longer than 1 ms'),
    'The service takes too long to answer.',
    'later',
  ],
  [
    new UnexpectedResponse('GET /v1/renders/ren_1', 404, 'not in the contract'),
    'Something other than the service answered with status 404.',
    'failed',
  ],
  [
    new UnexpectedResponse('GET /v1/renders/ren_1', 301, 'it moved to https://b.example.com/'),
    'Something other than the service answered with status 301 (it moved to https://b.example.com/).',
    'failed',
  ],
  [
    new UnexpectedResponse('upload', 403, 'AccessDenied'),
    "The upload was refused by the service's object store with status 403 (AccessDenied).",
    'failed',
  ],
  [
    new LipSyncError('The output changed while it was downloaded'),
    'The output changed while it was downloaded.',
    'failed',
  ],
])('%s is told in the words of the command', (error, message, outcome) => {
  expect(failureOf(error)).toMatchObject({ message, outcome });
  expect(failureOf(error).advice ?? '').not.toMatch(FOREIGN);
});

it('says of a file what is wrong with it, in words', async () => {
  const missing = await readFile('/missing/file').catch(failureOf);
  expect(missing).toMatchObject({
    outcome: 'usage',
    message: '/missing/file does not exist.',
    code: 'ENOENT',
  });
  const folder = await readFile('/').catch(failureOf);
  expect(folder).toMatchObject({ outcome: 'failed', message: '/ is a folder.' });
});

it('says what is missing to verify a delivery', async () => {
  const failure = await verifyWebhook('{}', {}, 'ab'.repeat(32)).catch(failureOf);
  expect(failure).toMatchObject({
    code: 'missing_header',
    advice: expect.stringContaining("-H 'Svc-S") as string,
  });
});
