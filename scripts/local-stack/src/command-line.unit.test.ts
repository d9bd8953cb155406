import { InvalidArgumentError } from 'commander';
import { parseCount, parseWhole } from './command-line';

describe('number options', () => {
  it.each([
    ['a count of nothing', () => parseCount('0')],
    ['a negative seed', () => parseWhole('-1')],
    ['a fraction', () => parseWhole('1.5')],
  ])('refuse %s', (_, parse) => {
    expect(parse).toThrow(InvalidArgumentError);
  });
});
