import { readFileSync } from 'node:fs';
import { eventually } from '@lipsync/testkit';
import { findFirefox } from './browser';
import { type FirefoxTab, startFirefox } from './firefox';
import { startSystem, type System } from './system';

const firefox = findFirefox();
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

(firefox === null ? describe.skip : describe)('in Firefox', () => {
  let system: System;
  let tab: FirefoxTab;

  beforeAll(async () => {
    system = await startSystem('firefox-walk');
    tab = await startFirefox(firefox ?? '');
  });
  afterAll(async () => {
    await tab.close();
    await system.stop();
  });

  async function expectAccessible(): Promise<void> {
    await tab.evaluate(`(() => { ${AXE}; return true; })()`);
    const run = `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map(({ target }) => target) })))`;
    expect(await tab.evaluate(run)).toEqual([]);
  }
  const press = (button: string) =>
    eventually(async () =>
      expect(
        await tab.evaluate(`(() => {
          const named = [...document.querySelectorAll('button')].filter((one) => one.textContent.trim() === '${button}');
          named.at(-1)?.click();
          return named.length > 0;
        })()`),
      ).toBe(true),
    );

  it('goes from the sample to a comparison, accessible at every step', async () => {
    await tab.visit(`${system.description.base_url}/studio`);
    await eventually(async () =>
      expect(await tab.evaluate(`document.querySelector('dialog input') !== null`)).toBe(true),
    );
    await expectAccessible();
    await tab.evaluate(`(() => {
      const input = document.querySelector('dialog input');
      input.value = '${system.customer.api_key}';
      input.dispatchEvent(new Event('input', { bubbles: true }));
      return true;
    })()`);
    await press('Sign in');
    await press('Try with the sample');
    await eventually(async () =>
      expect(await tab.evaluate('document.body.textContent')).toContain('result of 4.8 s'),
    );
    await expectAccessible();
    await press('Render');
    await eventually(async () =>
      expect(await tab.evaluate(`document.querySelectorAll('[aria-label=Comparison] video').length`)).toBe(2),
    );
    await expectAccessible();
    await tab.evaluate(`(() => { document.querySelector('.credentials summary').click(); return true; })()`);
    await eventually(async () =>
      expect(await tab.evaluate(`document.querySelector('.credentials').textContent`)).toContain(
        'this statement are as they were signed',
      ),
    );
    await expectAccessible();
  });

  it('reads the documentation without a finding of axe', async () => {
    for (const page of ['', '/first-render', '/reference', '/quality', '/errors', '/nothing']) {
      await tab.visit(`${system.description.base_url}/docs${page}`);
      await expectAccessible();
    }
  });
});
