import { type Engine, ENGINES } from '@lipsync/contract';
import { faultsOf, measureCase, shortened } from '@lipsync/fidelity';
import { testFolder } from '@lipsync/testkit';
import { type SharedSystem, shareSystem } from './system';

let system: SharedSystem;
const at = testFolder();

beforeAll(async () => {
  system = await shareSystem();
});
afterAll(() => system.stop());

/** As few pictures, or fields, as each needs; a long test measures all cases, with all engines. */
const CASES: readonly (readonly [name: string, pictures: number, engines: readonly Engine[]])[] = [
  ['59.94 fps', 24, ENGINES],
  ['variable rate of a telephone', 24, ['musetalk']],
  ['50i flagged progressive', 48, ['musetalk']],
  ['PQ with mastering display and MaxCLL', 12, ['musetalk']],
];

it.each(CASES)('%s comes back as it was, but for the mouth', async (name, pictures, engines) => {
  const results = await measureCase(system.api, shortened(name, pictures), { engines, folder: at() });
  expect(results.map((result) => [result.engine, faultsOf(result)])).toEqual(
    engines.map((engine) => [engine, []]),
  );
});
