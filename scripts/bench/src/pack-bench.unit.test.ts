import { packBench } from './pack-bench';

it.each([
  ['--engine', 'mustalk'],
  ['--seconds', 'Infinity'],
  ['--seconds', '0.01'],
  ['--fps', '61'],
])('a bench of packs refuses %s %s', async (...args) => {
  const command = packBench({ name: 'bench', description: '', key: 'figures' }, async function* () {});
  const parsed = command
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parseAsync(args, { from: 'user' });
  await expect(parsed).rejects.toThrow(args[0]);
});
