import { accessSync, constants, readFileSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';

const USUAL_PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** The machine's Chromium: CHROMIUM_BIN, or one of the usual places. Null if there is none. */
export function findChromium(): string | null {
  const named = process.env['CHROMIUM_BIN'];
  if (named !== undefined && named !== '') return named;
  return USUAL_PLACES.find(isExecutable) ?? null;
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

interface AxeResults {
  violations: { id: string; nodes: { target: string[]; failureSummary: string }[] }[];
}

/** No finding of axe-core, in light and in dark. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
    const { violations } = await page.evaluate<AxeResults>(
      'axe.run(document, { resultTypes: ["violations"] })',
    );
    expect(
      violations.map(({ id, nodes }) => ({ id, nodes: nodes.map((node) => node.failureSummary) })),
    ).toEqual([]);
  }
}
