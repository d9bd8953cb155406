import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Engine, ENGINES } from '@lipsync/contract';
import { faultsOf, measureCase, shortened } from '@lipsync/fidelity';
import { type SharedSystem, shareSystem } from './system';

let system: SharedSystem;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'e2e-fidelity-'));
  system = await shareSystem();
});
afterAll(async () => {
  await system.stop();
  await rm(folder, { recursive: true, force: true });
});

/** As few pictures, or fields, as each needs; a long test measures all cases, with all engines. */
const CASES: readonly (readonly [name: string, pictures: number, engines: readonly Engine[]])[] = [
  ['59.94 fps', 24, ENGINES],
  ['variable rate of a telephone', 24, ['musetalk']],
  ['50i flagged progressive', 48, ['musetalk']],
  ['PQ with mastering display and MaxCLL', 12, ['musetalk']],
];

it.each(CASES)('%s comes back as it was, but for the mouth', async (name, pictures, engines) => {
  const results = await measureCase(system.api, shortened(name, pictures), { engines, folder });
  expect(results.map((result) => [result.engine, faultsOf(result)])).toEqual(
    engines.map((engine) => [engine, []]),
  );
});
