import { accessSync, constants, readFileSync } from 'node:fs';
import path from 'node:path';
import { HANG_MS } from '@lipsync/testkit';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import BROWSERS from '../browsers.json';

/**
 * The machine's Chromium or Chrome: CHROMIUM_BIN, or one on the PATH. Null if there is none.
 * @throws in CI, where the tests must not be skipped
 */
export function findChromium(): string | null {
  const found = findProgram('CHROMIUM_BIN', BROWSERS);
  if (found !== null) return found;
  const missing = 'no Chromium or Chrome to test the studio in: install one, or name it in CHROMIUM_BIN';
  if (process.env['CI'] === 'true') throw new Error(missing);
  console.warn(`Skipped: ${missing}`);
  return null;
}

/** The machine's Firefox: FIREFOX_BIN, or one on the PATH. Null if there is none. */
export function findFirefox(): string | null {
  return findProgram('FIREFOX_BIN', ['firefox', 'firefox-esr']);
}

function findProgram(variable: string, names: readonly string[]): string | null {
  const named = process.env[variable];
  if (named !== undefined && named !== '') return named;
  const folders = (process.env['PATH'] ?? '').split(path.delimiter);
  const files = names.flatMap((name) => folders.map((folder) => path.resolve(folder, name)));
  return files.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function launchChromium(executablePath: string): Promise<Browser> {
  const args = [
    // It opens this repository's page alone, and as root, which containers often are, it starts in no other way.
    '--no-sandbox',
    '--autoplay-policy=no-user-gesture-required',
    // A tone in the place of a microphone, and no question.
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
  ];
  return chromium.launch({ executablePath, args });
}

/** A window in which nothing moves by itself, and whose pages may take their time. */
export async function openContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext({ reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(HANG_MS);
  return context;
}

/** Adds what the page reports to its console: errors, and what the content security policy refuses. */
export function collectComplaints(page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().includes('Failed to load resource'))
      complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
}

interface AxeResults {
  violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** What axe-core finds differently in light and in dark: everything else is the same document. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** No finding of axe-core, in light and in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  for (const [colorScheme, options] of [
    ['light', {}],
    ['dark', { runOnly: COLOR_RULES }],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate<AxeResults>(
      `axe.run(document, ${JSON.stringify({ ...options, resultTypes: ['violations'] })})`,
    );
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((node) => node.failureSummary) })),
    ).toEqual([]);
  }
}
