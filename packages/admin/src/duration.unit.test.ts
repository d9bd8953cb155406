import { duration } from './duration';

it.each([
  ['0s', 0],
  ['90s', 90],
  ['30m', 1_800],
  ['24h', 86_400],
  ['30d', 2_592_000],
])('reads %s', (value, seconds) => {
  expect(duration(value)).toBe(seconds);
});

it.each(['', '24', 'h', '1.5h', '-1h', '1w', '31d', '24 h'])('refuses %p', (value) => {
  expect(() => duration(value)).toThrow('a duration as');
});
