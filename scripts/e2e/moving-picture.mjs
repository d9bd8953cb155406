// Makes the moving picture at the top of README.md: the sample in the studio, source and three engines, frame by frame.
//
//   npm run stack -- up && node scripts/e2e/moving-picture.mjs docs/studio.webp
//
// It needs a Chromium (CHROMIUM_BIN, or one on the PATH), and an ffmpeg with libwebp.
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const [out] = process.argv.slice(2);
if (out === undefined) throw new Error('usage: node scripts/e2e/moving-picture.mjs OUT.webp');

const STACK = fileURLToPath(new URL('../../.local/stack.json', import.meta.url));
const SIZE = { width: 1200, height: 640 };
/** The sample speaks from there: frames of its 25 a second, every second one shown. */
const [FIRST, END, STEP, FPS] = [12, 58, 2, 25];

const { base_url: base, customers } = JSON.parse(await readFile(STACK, 'utf8'));
const folder = await mkdtemp(path.join(tmpdir(), 'moving-picture-'));
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM_BIN || '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const page = await browser.newPage({ viewport: SIZE, colorScheme: 'dark', reducedMotion: 'reduce' });
  page.setDefaultTimeout(180_000);
  await page.goto(`${base}/studio`);
  await page.getByRole('textbox', { name: 'API key' }).fill(customers[0].api_key);
  await page.getByRole('dialog').getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('button', { name: 'Try with the sample' }).click();
  for (const name of ['LatentSync', 'HighSync']) await page.getByText(name, { exact: true }).click();
  await page.getByRole('button', { name: 'Render' }).click();
  await page.getByRole('region', { name: 'Comparison' }).waitFor();
  await page.getByRole('button', { name: 'Mouth' }).click();
  await page.getByRole('button', { name: 'Mouth', pressed: true }).waitFor();
  // As large as the sample's pixels allow.
  for (let step = 0; step < 2; step++) await page.getByRole('button', { name: 'Zoom out' }).click();
  await page.mouse.click(2, 300);
  await page.keyboard.press('Home');
  for (let frame = 0, shot = 0; frame < END; frame++) {
    if (frame >= FIRST && (frame - FIRST) % STEP === 0) {
      await page.waitForTimeout(120);
      await page.screenshot({ path: path.join(folder, `${String(shot++).padStart(3, '0')}.png`) });
    }
    await page.keyboard.press('.');
  }
} finally {
  await browser.close();
}
const pictures = ['-framerate', String(FPS / STEP), '-i', path.join(folder, '%03d.png')];
// Below 90 blocks of what was there before stay on the cheeks.
const webp = ['-vf', 'scale=960:-2:flags=lanczos', '-c:v', 'libwebp_anim', '-quality', '90', '-loop', '0'];
execFileSync('ffmpeg', ['-v', 'error', '-y', ...pictures, ...webp, out], { stdio: 'inherit' });
await rm(folder, { recursive: true });
