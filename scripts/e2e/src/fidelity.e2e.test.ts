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

/** As few as each needs; all cases are measured by a long test. */
const CASES: readonly (readonly [name: string, pictures: number, engines: readonly Engine[]])[] = [
  ['25 fps', 20, ENGINES],
  ['anamorphic 4:3', 20, ['musetalk']],
];

it.each(CASES)('%s comes back as it was, but for the mouth', async (name, pictures, engines) => {
  const results = await measureCase(system.api, shortened(name, pictures), { engines, folder });
  expect(results.map((result) => [result.engine, faultsOf(result)])).toEqual(
    engines.map((engine) => [engine, []]),
  );
});
