import { testFolder } from '@lipsync/testkit';
import { binariesOf, writeTool } from '../test/tools';
import { requireToneMapping } from './picture-filters';

describe('tone mapping', () => {
  const at = testFolder();

  test.each([
    ['zscale tonemap', 'it can'],
    ['tonemap', 'it lacks the filter zscale'],
    ['zscale', 'it lacks the filter tonemap'],
  ])('of a build with %s: %s', async (filters, outcome) => {
    const known = `for known in ${filters}; do [ "$3" = "filter=$known" ] && echo "Filter $known"; done; exit 0`;
    const asked = requireToneMapping(binariesOf(await writeTool(at('ffmpeg'), known)));
    expect(
      await asked.then(
        () => 'it can',
        (error: unknown) => String(error),
      ),
    ).toContain(outcome);
  });
});
