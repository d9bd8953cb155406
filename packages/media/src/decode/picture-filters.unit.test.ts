import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binariesOf, writeTool } from '../test/tools';
import { requireToneMapping } from './picture-filters';

describe('tone mapping', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'picture-filters-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each([
    ['zscale tonemap', 'it can'],
    ['tonemap', 'it lacks the filter zscale'],
    ['zscale', 'it lacks the filter tonemap'],
  ])('of a build with %s: %s', async (filters, outcome) => {
    const known = `for known in ${filters}; do [ "$3" = "filter=$known" ] && echo "Filter $known"; done; exit 0`;
    const asked = requireToneMapping(binariesOf(await writeTool(join(folder, 'ffmpeg'), known)));
    expect(
      await asked.then(
        () => 'it can',
        (error: unknown) => String(error),
      ),
    ).toContain(outcome);
  });
});
