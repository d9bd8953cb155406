import path from 'node:path';
import { engineOptions } from './engine-options';
import { PUBLISHED } from './full-size/networks';

describe('the options of an engine benchmark', () => {
  test('are six seconds of a folder’s packs, or of one engine’s networks at their published size', () => {
    expect(engineOptions(['packs'])).toMatchObject({ packsDir: path.resolve('packs'), seconds: 6 });
    expect(engineOptions(['packs'])).not.toHaveProperty('untrained');
    expect(engineOptions(['--full-size', '--engine', 'latentsync'])).toMatchObject({
      ...{ seconds: 1, engine: 'latentsync', untrained: PUBLISHED },
    });
    expect(engineOptions(['--full-size', '--seconds', '0.32'])).toMatchObject({ seconds: 0.32 });
  });

  test.each([
    ['an engine that there is not', ['--engine', 'mustalk'], '--engine'],
    ['a clip without an end', ['--seconds', 'Infinity'], '--seconds'],
    ['a clip without a frame', ['--seconds', '0.01'], '--seconds'],
    ['a clip of no length', ['--seconds', 'ten'], '--seconds'],
    ['two folders', ['--engine', 'musetalk', 'packs', 'latentsync'], 'one folder'],
    ['an option that there is not', ['--fullsize'], '--fullsize'],
  ])('are refused with one line when they have %s', (_, args, named) => {
    expect(() => engineOptions(args)).toThrow(named);
  });
});
