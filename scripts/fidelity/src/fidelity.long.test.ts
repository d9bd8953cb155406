import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ENGINES } from '@lipsync/contract';
import { CASES } from './cases';
import { faultsOf } from './faults';
import { measureCase } from './measure-case';
import { type Service, startService } from './service';

let service: Service;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'fidelity-'));
  service = await startService();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

it.each(CASES.map((each) => [each.name, each] as const))(
  '%s comes back as it was, but for the mouth, from every engine',
  async (_, each) => {
    const results = await measureCase(service.api, each, { engines: ENGINES, folder });
    expect(results.map((result) => [result.engine, faultsOf(result)])).toEqual(
      ENGINES.map((engine) => [engine, []]),
    );
  },
);
