import { createLogger, type Logger } from '@lipsync/runtime';
import { classifyResponse, parseRetryAfter, settlePersistently } from './dispatcher';

const classify = (status: number) => classifyResponse({ status, retryAfter: null }, 0);

it.each([200, 201, 204, 299])('a response of %i counts as delivered', (status) => {
  expect(classify(status)).toEqual({ kind: 'delivered', httpStatus: status });
});

it.each([
  [301, 'redirect'],
  [304, 'redirect'],
  [400, 'http_error'],
  [410, 'http_error'],
  [429, 'http_error'],
  [500, 'http_error'],
])('a response of %i counts as a failure of class %s', (status, error) => {
  expect(classify(status)).toMatchObject({ kind: 'failed', error, httpStatus: status });
});

const NOW = Date.parse('2026-03-01T10:00:00Z');

describe('Retry-After', () => {
  it.each([
    ['120', 120],
    ['0', 0],
    ['Sun, 01 Mar 2026 10:02:00 GMT', 120],
    ['Sun, 01 Mar 2026 09:00:00 GMT', 0],
  ])('reads %s', (header, seconds) => {
    expect(parseRetryAfter(header, NOW)).toBe(seconds);
  });

  it.each([null, '', '-5', '1.5', 'soon', '2026-03-01', '99999999999'])('ignores %p', (header) => {
    expect(parseRetryAfter(header, NOW)).toBeUndefined();
  });
});

const away = Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED' });

/** Settles with these responses, one for each try, repeating the last one; returns what came of it. */
async function settleWith(answers: readonly (Error | 'delivered')[], forMs: number) {
  const logged: unknown[] = [];
  const logger: Logger = {
    ...createLogger({ service: 'test', level: 'silent' }),
    error: (_message, fields) => void logged.push(fields),
  };
  let tries = 0;
  const settle = async (): Promise<'delivered'> => {
    const answer = answers[Math.min(tries, answers.length - 1)];
    tries += 1;
    if (answer instanceof Error) throw answer;
    return 'delivered';
  };
  const state = await settlePersistently({ settle, forMs, deliveryId: 'dlv_1', logger });
  return { state, tries, logged };
}

describe('the settlement of a delivery', () => {
  it('is written once the database is back', async () => {
    expect(await settleWith([away, 'delivered'], 30_000)).toEqual({
      state: 'delivered',
      tries: 2,
      logged: [],
    });
  });

  it.each([1, 0, -60_000, 0.5])(
    'is retried, and given up with a log line, when its claim runs out in %d ms with the database away',
    async (forMs) => {
      expect(await settleWith([away], forMs)).toEqual({
        state: null,
        tries: 1,
        logged: [{ delivery_id: 'dlv_1', error: away }],
      });
    },
  );

  it('is not retried when the database refuses it: it would only be refused again', async () => {
    const refused = new Error('violates a constraint');
    expect(await settleWith([refused, 'delivered'], 30_000)).toEqual({
      state: null,
      tries: 1,
      logged: [{ delivery_id: 'dlv_1', error: refused }],
    });
  });
});
