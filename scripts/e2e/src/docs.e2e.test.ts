import { type Browser, type BrowserContext, type Page } from 'playwright-core';
import { collectComplaints, expectAccessible, findChromium, launchChromium, openContext } from './browser';
import { type SharedSystem, shareSystem } from './system';

const executable = findChromium();
const inChromium = executable === null ? describe.skip : describe;

let system: SharedSystem;
let browser: Browser;
let context: BrowserContext;
let complaints: string[];

inChromium('the documentation', () => {
  beforeAll(async () => {
    system = await shareSystem();
    browser = await launchChromium(executable ?? '');
  });
  afterAll(async () => {
    await browser.close();
    await system.stop();
  });
  beforeEach(async () => {
    complaints = [];
    context = await openContext(browser, { viewport: { width: 1280, height: 900 } });
  });
  afterEach(async () => {
    await context.close();
    if (complaints.length > 0) throw new Error(`the browser complained: ${complaints.join('; ')}`);
  });

  it('can be read by everybody on every page, in light and dark, on a telephone too', async () => {
    const addresses = await addressesOfPages();
    expect(addresses.length).toBeGreaterThan(10);
    const rest = addresses.values();
    const readRest = async (): Promise<void> => {
      const page = await open('/docs');
      for (const address of rest) {
        await page.goto(address);
        await expectAccessible(page);
        for (const width of [320, 1280]) {
          await page.setViewportSize({ width, height: 900 });
          // Neither the page nor a table of it.
          const wide = `[document.documentElement, ...document.querySelectorAll('.table')]
            .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth).length`;
          expect([address, width, await page.evaluate(wide)]).toEqual([address, width, 0]);
        }
      }
    };
    await Promise.all([readRest(), readRest()]);
    // Each page may take as long as elsewhere a test.
  }, 900_000);

  it('finds by a few letters, and without a hand on the mouse', async () => {
    const page = await open('/docs');
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
    await page.keyboard.type('no_face_det');
    await page.getByRole('dialog').getByRole('link').first().waitFor();
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
    // Both within one frame.
    await page.evaluate(`for (const key of ['Escape', '/'])
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))`);
    await page.getByRole('searchbox').fill('svc-signature header');
    await page
      .getByRole('dialog')
      .getByRole('link', { name: /signature/i })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/#/);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('opens the first result for whoever presses Enter before the texts are there', async () => {
    const page = await open('/docs');
    let arrive = (): void => undefined;
    const late = new Promise<void>((resolve) => (arrive = resolve));
    await page.route('**/docs/search.json', async (route) => {
      await late;
      await route.continue();
    });
    await page.keyboard.press('/');
    await page.getByRole('searchbox').waitFor();
    await page.keyboard.type('svc-signature header');
    await page.keyboard.press('Enter');
    arrive();
    await page.waitForURL(/#/);
    expect(page.url()).toMatch(/webhook/);
  });

  it('keeps the language of samples on the next page, and shares its colors with the studio', async () => {
    const page = await open('/docs/reference');
    await page.getByText('Python', { exact: true }).nth(1).click();
    await page.getByText('client.renders.get("ren_').waitFor();
    await page.goto(`${system.description.base_url}/docs/webhooks`);
    expect(await page.evaluate('document.querySelector(".tabs :checked").value')).toBe('Python');

    await page.getByRole('button', { name: /Colors: same as the system/ }).click();
    await page.getByRole('button', { name: /Colors: light/ }).click();
    await page.goto(`${system.description.base_url}/studio`);
    await page.getByRole('button', { name: /Colors: dark/ }).waitFor();
    expect(await page.evaluate('document.documentElement.dataset.theme')).toBe('dark');
  });

  it('answers a wrong address with a page that leads on', async () => {
    const page = await open('/studio/nothing');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Search the documentation' }).click();
    await page.getByRole('searchbox').waitFor();
  });

  it('needs no script to be read: tabs change, the menu opens', async () => {
    await context.close();
    context = await openContext(browser, { javaScriptEnabled: false, viewport: { width: 400, height: 800 } });
    const page = await open('/docs/reference');
    await page.getByText(/^client\.renders\.create/).waitFor({ state: 'hidden' });
    await page.getByText('Python', { exact: true }).nth(1).click();
    await page.getByText(/^client\.renders\.create/).waitFor();
    await page.getByRole('button', { name: /API reference/ }).click();
    await page.getByRole('link', { name: 'Errors', exact: true }).click();
    await page.waitForURL('**/docs/errors');
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Errors');
  });
});

async function open(path: string): Promise<Page> {
  const page = await context.newPage();
  collectComplaints(page, complaints);
  await page.goto(`${system.description.base_url}${path}`);
  return page;
}

async function addressesOfPages(): Promise<string[]> {
  const page = await open('/docs');
  return page.evaluate('[...document.querySelectorAll(".pages a")].map(({ href }) => href)');
}
