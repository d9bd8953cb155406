import { ENGINES } from '@lipsync/contract';
import { testFolder } from '@lipsync/testkit';
import { CASES } from './cases';
import { faultsOf } from './faults';
import { measureCase } from './measure-case';
import { type Service, startService } from './service';

let service: Service;
const at = testFolder();

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

it.each(CASES.map((each) => [each.name, each] as const))(
  '%s comes back as it was, but for the mouth, from every engine',
  async (_, each) => {
    const results = await measureCase(service.api, each, { engines: ENGINES, folder: at() });
    expect(results.map((result) => [result.engine, faultsOf(result)])).toEqual(
      ENGINES.map((engine) => [engine, []]),
    );
  },
);
