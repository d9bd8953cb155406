import path from 'node:path';
import { Command } from 'commander';
import { type PacksToBench, withPacks } from './packs-to-bench';

async function optionsOf(...args: string[]): Promise<PacksToBench | undefined> {
  let options: PacksToBench | undefined;
  const command = withPacks(new Command('bench'), async (packs) => {
    options = packs;
  });
  await command
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parseAsync(args, { from: 'user' });
  return options;
}

describe('the options of an engine bench', () => {
  it('are by default six seconds of all packs of a folder', async () => {
    expect(await optionsOf('packs')).toEqual({ packsDir: path.resolve('packs'), seconds: 6 });
    expect(await optionsOf('packs', '--engine', 'latentsync', '--seconds', '0.32')).toMatchObject({
      engine: 'latentsync',
      seconds: 0.32,
    });
  });

  it.each([
    ['an engine that there is not', ['--engine', 'mustalk'], '--engine'],
    ['a clip without an end', ['--seconds', 'Infinity'], '--seconds'],
    ['a clip without a frame', ['--seconds', '0.01'], '--seconds'],
    ['a clip of no length', ['--seconds', 'ten'], '--seconds'],
    ['two folders', ['--engine', 'musetalk', 'packs', 'latentsync'], 'too many arguments'],
    ['an option that there is not', ['--fullsize'], '--fullsize'],
  ])('are refused when they have %s', async (_, args, named) => {
    await expect(optionsOf(...args)).rejects.toThrow(named);
  });
});
