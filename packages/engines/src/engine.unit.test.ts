import { isWorthKeeping } from './engine';

test('features of up to a quarter of a megabyte per frame are kept; larger or empty ones are not', () => {
  expect(isWorthKeeping({ version: '1', values: 65_536 })).toBe(true);
  expect(isWorthKeeping({ version: '1', values: 65_537 })).toBe(false);
  expect(isWorthKeeping({ version: '1', values: 0 })).toBe(false);
});
