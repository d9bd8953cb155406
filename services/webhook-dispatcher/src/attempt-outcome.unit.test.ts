import { outcomeOfAnswer } from './attempt-outcome';

const answer = (status: number) => outcomeOfAnswer({ status, retryAfter: null }, 0);

it.each([200, 201, 204, 299])('counts %i as delivered', (status) => {
  expect(answer(status)).toEqual({ kind: 'delivered', httpStatus: status });
});

it.each([
  [301, 'redirect'],
  [304, 'redirect'],
  [400, 'http_error'],
  [410, 'http_error'],
  [429, 'http_error'],
  [500, 'http_error'],
])('counts %i as a failure of class %s', (status, error) => {
  expect(answer(status)).toMatchObject({ kind: 'failed', error, httpStatus: status });
});
