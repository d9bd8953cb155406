import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { constantClock, timelineOf } from '@lipsync/domain';
import { provisionCustomer, REPOSITORY_ROOT, type StackCustomer } from '@lipsync/local-stack';
import { eventually, makeFaceVideo, makeTone, testFolder } from '@lipsync/testkit';
import { type Browser, type BrowserContext, type Locator, type Page, type Route } from 'playwright-core';
import { collectComplaints, expectAccessible, findChromium, launchChromium, openContext } from './browser';
import { createAdmin, type SharedSystem, shareSystem, whileStopped } from './system';

const executable = findChromium();
const inChromium = executable === null ? describe.skip : describe;

// Sixteen frames are what LatentSync draws at a time.
const VIDEO_FRAMES = 8;
const OUTPUT_FRAMES = 16;
const RATE = { num: 25, den: 1 };
const VIEWPORT = { width: 1280, height: 900 };
const WINDOWS = [
  [1440, 900],
  [1280, 720],
  [1024, 600],
  [390, 844],
  [320, 568],
] as const;
const BOUNCED = timelineOf('bounce', constantClock(RATE, VIDEO_FRAMES), OUTPUT_FRAMES / RATE.num);

const PYTHON_CLIENT = path.join(REPOSITORY_ROOT, 'packages/client-python/src');

let system: SharedSystem;
let stranger: StackCustomer;
let browser: Browser;
const file = testFolder();
let context: BrowserContext;
let page: Page;
let complaints: string[];

inChromium('the studio', () => {
  beforeAll(async () => {
    system = await shareSystem();
    stranger = await provisionCustomer(system.stack.state(), 'studio-stranger');
    browser = await launchChromium(executable ?? '');
    await makeFaceVideo(file('face.mp4'), { frames: VIDEO_FRAMES, filters: 'scale=256:-2' });
    await writeFile(file('damaged.mp4'), (await readFile(file('face.mp4'))).subarray(0, 4000));
    await makeTone(file('voice.wav'), { seconds: OUTPUT_FRAMES / RATE.num });
  });
  afterAll(async () => {
    await browser.close();
    await system.stop();
  });
  beforeEach(async () => {
    context = await openContext(browser, { viewport: VIEWPORT, permissions: ['microphone'] });
    page = await context.newPage();
    complaints = [];
    collectComplaints(page, complaints);
    await visit('/studio');
  });
  afterEach(async () => {
    await context.close();
    if (complaints.length > 0) throw new Error(`the browser complained: ${complaints.join('; ')}`);
  });

  it('goes from a dropped video to a comparison in which every video shows the frame that belongs to the others', async () => {
    await expectAccessible(page);
    await signIn(page, `svc_${'0'.repeat(64)}`);
    await page.getByText('The service does not know this key').waitFor();
    await signIn(page, system.customer.api_key);
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await expectAccessible(page);

    await drop('face.mp4', 'video/mp4', page.getByRole('region', { name: 'Video' }));
    await page.getByLabel('Voice file').setInputFiles(file('voice.wav'));
    await page.getByText('LatentSync').click();
    await page.locator('label', { hasText: 'Bounce' }).click();
    await page.getByText('2 engines · result of 0.6 s').waitFor();
    await expectAccessible(page);

    // Else it might have ended before the page looks.
    await whileStopped(system, 'gpu-worker', async () => {
      await page.getByRole('button', { name: 'Render' }).click();
      await page.getByRole('region', { name: 'Progress' }).waitFor();
      await expectAccessible(page);
      await eventually(async () => expect(await browserStores(page)).toContain('[file face.mp4]'));
    });
    // The render goes on without the page, and the page comes back to it.
    await page.reload();
    await page.getByRole('figure').filter({ hasText: 'Source' }).waitFor();
    await expectAccessible(page);
    await watchPictures();

    await expectFrame(0);
    await page.keyboard.press('ArrowRight');
    await expectFrame(1);
    // Across the turn of the source, which plays backward from there on.
    for (let frame = 2; frame <= 10; frame++) await page.keyboard.press('.');
    await expectFrame(10);
    await page.keyboard.press('ArrowLeft');
    await expectFrame(9);
    await page.keyboard.press('End');
    await expectFrame(OUTPUT_FRAMES - 1);
    await page.getByRole('slider', { name: 'Position' }).click();
    await expectFrame(Math.floor(OUTPUT_FRAMES / 2));
    await page.keyboard.press('Home');
    await expectFrame(0);

    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await eventually(async () => expect(await frameOnTheClock()).toBeGreaterThan(3));
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    await expectFrame(await frameOnTheClock());

    for (const [width, height] of WINDOWS) {
      await page.setViewportSize({ width, height });
      await eventually(async () => expect(await isOnScreen('.transport-play')).toBe(true));
    }
    await page.setViewportSize(VIEWPORT);

    const shortcuts = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    const frame = await frameOnTheClock();
    await pressAtOnce('?', '?');
    expect(await shortcuts.count()).toBe(0);
    await pressAtOnce('?', 'Escape', '?', 'ArrowLeft');
    expect(await shortcuts.count()).toBe(1);
    await page.keyboard.press('Escape');
    for (const close of ['Escape', '?', 'Enter']) {
      await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
      await shortcuts.waitFor();
      await page.keyboard.press('ArrowLeft');
      // The button to close it has the focus.
      await page.keyboard.press(close);
      await shortcuts.waitFor({ state: 'detached' });
    }
    expect(await frameOnTheClock()).toBe(frame);
    // The button that opened it has the focus again, and was not reached by the Tab key.
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Frame back' }).focus();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: 'Play', exact: true }).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);

    expect(
      await page.evaluate('[...document.querySelectorAll(".clip video")].filter((v) => !v.muted).length'),
    ).toBe(1);
    await page.getByRole('button', { name: 'Wipe' }).click();
    const wipe = page.getByRole('slider', { name: 'Wipe' });
    await wipe.focus();
    await page.keyboard.press('ArrowLeft');
    expect(await wipe.getAttribute('aria-valuenow')).toBe('48');
    await page.getByRole('button', { name: 'Mouth' }).click();
    await page.getByRole('button', { name: 'Mouth', pressed: true }).waitFor();
    await expectAccessible(page);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page
        .getByRole('region', { name: 'Downloads' })
        .getByRole('link', { name: /MuseTalk/ })
        .click(),
    ]);
    expect(download.suggestedFilename()).toBe('face.musetalk.mp4');
    expect((await readFile(await download.path())).byteLength).toBeGreaterThan(1000);
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.toContain('svc_');

    await page.getByRole('button', { name: 'Python' }).click();
    const program = await page.getByRole('region', { name: 'Python source' }).innerText();
    await promisify(execFile)('python3', ['-c', program], {
      cwd: file(),
      env: { ...process.env, PYTHONPATH: PYTHON_CLIENT, LIPSYNC_API_KEY: system.customer.api_key },
    });
    for (const engine of ['musetalk', 'latentsync'])
      expect((await readFile(file(`${engine}.mp4`))).byteLength).toBeGreaterThan(1000);
  });

  it('shows what is wrong where the eye is, on the smallest phone, and hides no control that has the focus', async () => {
    await page.setViewportSize({ width: 320, height: 568 });
    await signIn(page, system.customer.api_key);
    await page.getByRole('button', { name: 'Render' }).click();
    await page.getByText('To render, choose a video and a voice.').waitFor();
    await eventually(async () => expect(await focused()).toEqual({ text: 'choose a file', isSeen: true }));
    await expectAccessible(page);
    // Through the whole form, and past the bar that lies over it.
    for (let step = 0; step < 16; step++) {
      await page.keyboard.press('Tab');
      expect(await focused()).toMatchObject({ isSeen: true });
    }
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    // Before anything is drawn: what is typed next must not be lost.
    const fieldOfAddress = `(async () => {
      [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'Use a URL').click();
      await null;
      return document.activeElement.type;
    })()`;
    expect(await page.evaluate(fieldOfAddress)).toBe('url');
    await page.getByRole('button', { name: 'Use a file instead' }).click();

    await writeFile(file('notes.txt'), 'milk');
    await drop('notes.txt', 'text/plain', page.getByRole('region', { name: 'Voice' }));
    await page.getByText(/^notes.txt is not sound/).waitFor();
    await page.getByRole('button', { name: 'Try with the sample' }).click();
    await page.getByText('sample-face.mp4').waitFor();
    await page.getByText('1 engine · result of 4.8 s').waitFor();
    expect(await page.getByText(/^notes.txt/).count()).toBe(0);

    const refused = { code: 'asset_expired', message: 'The asset has expired.', retryable: false };
    await page.route('**/v1/renders', (route) => route.fulfill({ status: 410, json: { error: refused } }));
    await page.getByRole('button', { name: 'Render' }).and(page.locator(':focus')).waitFor();
    await page.keyboard.press('Enter');
    await eventually(async () =>
      expect(await focused()).toMatchObject({
        text: expect.stringContaining('The uploaded file has expired') as string,
        isSeen: true,
      }),
    );
    await expectAccessible(page);
  });

  it('checks a result’s content credentials when its badge is opened, and repeats nothing of a changed file', async () => {
    const loaded: string[] = [];
    page.on('request', (request) => loaded.push(request.url()));
    await signIn(page, system.customer.api_key);
    await page.getByLabel('Video file').setInputFiles(file('face.mp4'));
    await page.getByLabel('Voice file').setInputFiles(file('voice.wav'));
    await page.getByRole('button', { name: 'Render' }).click();
    const badge = page.getByRole('region', { name: 'Downloads' }).getByRole('group');
    const open = async (): Promise<void> => {
      await badge.locator('summary').focus();
      await page.keyboard.press('Enter');
    };
    await badge.waitFor();
    expect(loaded.filter((url) => url.endsWith('.wasm'))).toEqual([]);

    await page.setViewportSize({ width: 320, height: 568 });
    await page.route('**/*.wasm', (route) => route.abort());
    await open();
    await badge.getByText('The file could not be checked').waitFor();
    await page.unroute('**/*.wasm');
    await badge.getByRole('button', { name: 'Try again' }).click();
    await badge.getByText('Pictures, sound and this statement are as they were signed.').waitFor();
    const statement = await badge.innerText();
    for (const part of ['Self-made (not trusted)', 'for tests', 'Edited by musetalk', 'compositeWithTrained'])
      expect(statement).toContain(part);
    await expectAccessible(page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);

    await page.route(isStore, async (route) => {
      const response = await route.fetch();
      const body = await response.body();
      body.writeUInt8(body.readUInt8(body.length - 9) ^ 1, body.length - 9);
      await route.fulfill({ response, body });
    });
    await page.reload();
    await open();
    await badge.getByText('This file was changed after it was signed.').waitFor();
    expect(await badge.innerText()).not.toContain('Self-made');

    await page.unroute(isStore);
    await page.route(isStore, (route) => route.fulfill({ path: file('face.mp4'), contentType: 'video/mp4' }));
    await page.reload();
    await open();
    await badge.getByText('This file carries no content credentials.').waitFor();
  });

  it('asks for another key when the key is revoked, keeps what was chosen, a recorded voice too, and goes on', async () => {
    const admin = createAdmin(system);
    const key = await admin.json<{ id: string; api_key: string }>('keys', 'issue', system.customer.id);
    await signIn(page, key.api_key);
    await page.getByRole('button', { name: 'Record' }).click();
    await eventually(async () =>
      expect(parseFloat((await page.getByRole('timer').textContent()) ?? '')).toBeGreaterThan(0.5),
    );
    await page.getByRole('button', { name: 'Use this recording' }).click();
    await page.getByText(/recording-.*\.webm/).waitFor();
    await page.getByLabel('Video file').setInputFiles(file('face.mp4'));
    await admin.json('keys', 'revoke', key.id);
    await page.getByRole('button', { name: 'Render' }).click();
    await page.getByRole('dialog', { name: 'Your key was refused' }).waitFor();
    await expectAccessible(page);
    await signIn(page, system.customer.api_key);
    // Nothing has to be chosen or pressed again.
    await page.waitForURL(/#\/renders\/ren_/);
    await page.getByRole('heading', { name: /face.mp4 with recording-/ }).waitFor();
    await page.getByRole('region', { name: 'Comparison' }).waitFor();
  });

  it('ends an upload or a render that is cancelled, and keeps what was chosen', async () => {
    await signIn(page, system.customer.api_key);
    await page.getByLabel('Video file').setInputFiles(file('face.mp4'));
    await page.getByLabel('Voice file').setInputFiles(file('voice.wav'));
    const created: string[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith('/v1/renders')) created.push(request.url());
    });
    // The store keeps silent until somebody gives up.
    await page.route(isStore, (route) => (route.request().method() === 'PUT' ? undefined : route.continue()));
    const ended = page.waitForEvent('requestfailed', (request) => request.method() === 'PUT');
    await page.getByRole('button', { name: 'Render' }).click();
    await page.getByRole('progressbar', { name: 'Video uploaded' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await ended;
    await page.getByRole('button', { name: 'Render' }).waitFor();
    await page.getByText('face.mp4').waitFor();
    expect(created).toEqual([]);
    expect(await page.getByRole('alert').count()).toBe(0);

    await page.unroute(isStore);
    await renderAndCancel();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Render again' }).click();
    // An answer from before the cancellation that arrives after it.
    await whileStopped(system, 'gpu-worker', async () => {
      await page.getByRole('button', { name: 'Render' }).click();
      await page.getByRole('region', { name: 'Progress' }).waitFor();
      const look = '**/v1/renders/ren_*';
      const late = await holdAnswer(look);
      await late.answered;
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText('This render was cancelled').waitFor();
      const next = page.waitForRequest(look);
      late.letGo();
      await next;
      expect(await page.getByText('This render was cancelled').count()).toBe(1);
    });
    await page.getByRole('button', { name: 'Render again' }).click();
    await page.getByRole('region', { name: 'Voice' }).getByText('voice.wav').waitFor();
  });

  it('keeps what was chosen meanwhile when the sample or a preparation comes late', async () => {
    await signIn(page, system.customer.api_key);
    const sample = await holdAnswer('**/assets/face-*.mp4');
    await page.getByRole('button', { name: 'Try with the sample' }).click();
    await sample.answered;
    await page.getByLabel('Video file').setInputFiles(file('face.mp4'));
    const video = page.getByRole('region', { name: 'Video' });
    await video.getByText('face.mp4').waitFor();
    sample.letGo();

    const look = await holdAnswer('**/v1/preparations/*');
    await video.getByRole('button', { name: 'Prepare this video' }).click();
    await look.answered;
    await video.getByRole('button', { name: 'Choose another' }).click();
    await page.getByLabel('Video file').setInputFiles(file('damaged.mp4'));
    await video.getByText('damaged.mp4').waitFor();
    look.letGo();
    await video.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' });
    expect(await video.innerText()).toContain('damaged.mp4');
    expect(await page.getByText('sample-speech.wav').count()).toBe(0);
  });

  it('begins with what happened before it was on screen: another address, a sign-out elsewhere', async () => {
    await signIn(page, system.customer.api_key);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.clock.install();
    await page.clock.pauseAt(Date.now() + 60_000);
    await page.reload();
    await page.evaluate(`location.hash = '#/renders/ren_other'`);
    await page.clock.resume();
    await page.getByText('There is no such render').waitFor();

    await page.clock.pauseAt(Date.now() + 120_000);
    await page.reload();
    const other = await context.newPage();
    await visit('/studio', other);
    await signIn(other, system.customer.api_key);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByRole('button', { name: 'Sign in' }).waitFor();
    await page.bringToFront();
    await page.clock.resume();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
  });

  it('says at once that it is offline, goes on by itself when it is back, and lists how far every render is', async () => {
    await signIn(page, system.customer.api_key);
    await page.getByLabel('Video file').setInputFiles(file('face.mp4'));
    await page.getByLabel('Voice file').setInputFiles(file('voice.wav'));
    await page.getByText('1 engine · result of').waitFor();
    await context.setOffline(true);
    await page.getByText('You are offline.').waitFor();
    await page.getByRole('button', { name: 'Render' }).click();
    await page.getByText('It starts as soon as the service can be reached.').waitFor();
    await expectAccessible(page);
    await whileStopped(system, 'gpu-worker', async () => {
      await context.setOffline(false);
      await page.getByRole('region', { name: 'Progress' }).getByRole('timer').waitFor();
      await context.setOffline(true);
      await page.getByText('You are offline.').waitFor();
    });
    await context.setOffline(false);
    await page.getByText('You are offline.').waitFor({ state: 'detached' });
    await page.getByRole('region', { name: 'Comparison' }).waitFor();
    await page.getByRole('link', { name: 'Lipsync Studio' }).click();
    await page.getByRole('link', { name: /face.mp4 with voice.wav Completed/ }).waitFor();
    await expectAccessible(page);
  });

  it('leaves nothing of a customer to the next one who signs in, in any tab', async () => {
    await signIn(page, system.customer.api_key);
    await page.getByLabel('Video file').setInputFiles(file('face.mp4'));
    await page.getByLabel('Voice file').setInputFiles(file('voice.wav'));
    await renderAndCancel();
    // Whoever comes back with the same key finds the render, and the video to compare it with.
    const other = await context.newPage();
    await visit('/studio', other);
    await signIn(other, system.customer.api_key);
    await other.getByRole('link', { name: 'face.mp4 with voice.wav' }).waitFor();
    await eventually(async () => expect(await browserStores(other)).toContain('[file face.mp4]'));

    await page.bringToFront();
    await page.getByRole('button', { name: 'Sign out' }).click();
    for (const tab of [page, other]) {
      await tab.getByRole('button', { name: 'Sign in' }).waitFor();
      await eventually(async () => expect(await tab.content()).not.toContain('face.mp4'));
      await eventually(async () => expect(await browserStores(tab)).not.toMatch(/face\.mp4|data:image|svc_/));
    }
    // The address is still in the tab's history.
    await page.goBack();
    await page.getByRole('button', { name: 'Sign in' }).click();
    await signIn(page, stranger.api_key);
    await page.getByText('There is no such render').waitFor();
    await page.getByRole('link', { name: 'Lipsync Studio' }).click();
    await page.getByRole('heading', { name: 'Give a face a new voice' }).waitFor();
    expect(await page.content()).not.toMatch(/face\.mp4|Recent renders/);
  });

  it('deletes what has expired, is damaged, or was left by another key or an earlier version', async () => {
    // As the version before has stored it.
    await visit('/docs');
    await store({ version: 1, owner: undefined, expiresAt: SOON });
    await page.clock.install();
    await visit('/studio');
    await eventually(async () => expect(await browserStores(page)).not.toMatch(/old\.mp4/));

    await store({ version: 2, owner: 'another key', expiresAt: SOON });
    await signIn(page, system.customer.api_key);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await eventually(async () => expect(await browserStores(page)).not.toMatch(/old\.mp4/));

    const owner = await page.evaluate<string>(`sessionStorage.getItem('lipsync-studio.owner')`);
    await store({ version: 2, owner, expiresAt: SOON, damaged: true });
    await page.reload();
    await page.getByRole('link', { name: 'old.mp4 with voice.wav' }).waitFor();
    await eventually(async () => expect(await browserStores(page)).not.toContain('damaged'));
    expect(await browserStores(page)).toContain('[file old.mp4]');
    await page.clock.fastForward(2 * 3_600_000);
    await page.getByText('old.mp4').waitFor({ state: 'detached' });
    await eventually(async () => expect(await browserStores(page)).not.toMatch(/old\.mp4/));
  });

  it('says why a render failed, and what to do, also where the browser keeps nothing', async () => {
    await page.addInitScript(`
      for (const name of ['localStorage', 'sessionStorage', 'indexedDB'])
        Object.defineProperty(window, name, { get: () => { throw new DOMException('denied', 'SecurityError'); } });
    `);
    await page.reload();
    await signIn(page, system.customer.api_key);
    await page.getByLabel('Video file').setInputFiles(file('damaged.mp4'));
    await page.getByText('It may be damaged, or of a rare kind').waitFor();
    await page.getByLabel('Voice file').setInputFiles(file('voice.wav'));
    await page.getByRole('button', { name: 'Render' }).click();
    await page.getByRole('heading', { name: 'damaged.mp4 with voice.wav' }).waitFor();
    const alert = page.getByRole('alert');
    await alert.getByText('A file is damaged').waitFor();
    expect(await alert.textContent()).toContain('media_corrupt');
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Choose something else' }).click();
    await page.getByText('damaged.mp4').first().waitFor();
  });
});

async function visit(path: string, tab = page): Promise<void> {
  await tab.goto(`${system.description.base_url}${path}`);
}

async function signIn(tab: Page, key: string): Promise<void> {
  await tab.getByLabel('API key', { exact: true }).fill(key);
  await tab.keyboard.press('Enter');
}

/** Cancels what was chosen after the service has accepted it, and before it can be rendered. */
async function renderAndCancel(): Promise<void> {
  await whileStopped(system, 'gpu-worker', async () => {
    await page.getByRole('button', { name: 'Render' }).click();
    await page.getByRole('heading', { name: 'face.mp4 with voice.wav' }).waitFor();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByText('This render was cancelled').waitFor();
  });
}

/** Keeps the next answer from the page until it is let go. */
async function holdAnswer(url: string): Promise<{ answered: Promise<void>; letGo: () => void }> {
  let answer = (): void => undefined;
  let letGo = (): void => undefined;
  const answered = new Promise<void>((resolve) => (answer = resolve));
  const free = new Promise<void>((resolve) => (letGo = resolve));
  const hold = async (route: Route): Promise<void> => {
    const response = await route.fetch();
    answer();
    await free;
    await route.fulfill({ response });
  };
  await page.route(url, hold, { times: 1 });
  return { answered, letGo };
}

/** Presses keys before the page is drawn again, and waits until it is. */
async function pressAtOnce(...keys: string[]): Promise<void> {
  await page.evaluate(`(async () => {
    for (const key of ${JSON.stringify(keys)}) {
      document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
      await null;
    }
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
  })()`);
}

const isStore = (url: URL): boolean => url.origin !== new URL(system.description.base_url).origin;

/** What has the focus, and whether its middle is seen: nothing lies over it. */
function focused(): Promise<{ text: string; isSeen: boolean }> {
  return page.evaluate(`(() => {
    const active = document.activeElement;
    const { left, top, width, height } = (active.closest('label') ?? active).getBoundingClientRect();
    const seen = document.elementFromPoint(left + width / 2, top + height / 2);
    return { text: active.textContent.trim(), isSeen: active === document.body || (active.closest('label') ?? active).contains(seen) };
  })()`);
}

/** All that the origin keeps in this browser, as JSON, in which a file is its name. */
function browserStores(tab: Page): Promise<string> {
  return tab.evaluate(`(async () => {
    const answer = (request) => new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    const records = [];
    for (const { name } of await indexedDB.databases()) {
      const database = await answer(indexedDB.open(name));
      for (const store of database.objectStoreNames)
        records.push(...(await answer(database.transaction(store).objectStore(store).getAll())));
      database.close();
    }
    const asText = (_key, value) => (value instanceof File ? '[file ' + value.name + ']' : value);
    return JSON.stringify([{ ...localStorage }, { ...sessionStorage }, records], asText);
  })()`);
}

const SOON = new Date(Date.now() + 3_600_000).toISOString();

interface Leftover {
  version: 1 | 2;
  owner: string | undefined;
  expiresAt: string;
  damaged?: boolean;
}

/** Puts a render and its video where the page keeps them, and damaged ones beside them. */
async function store({ version, owner, expiresAt, damaged = false }: Leftover): Promise<void> {
  const render = {
    ...{ id: 'ren_old', createdAt: expiresAt, expiresAt, engines: ['musetalk'], syncMode: 'loop' },
    ...{ videoName: 'old.mp4', voiceName: 'voice.wav' },
  };
  const renders = damaged ? [null, { ...render, id: 'damaged', createdAt: 'never' }, render] : [render];
  await page.evaluate(`(async () => {
    localStorage.setItem('lipsync-studio.recent', ${JSON.stringify(JSON.stringify({ owner, renders, preparations: [] }))});
    await new Promise((resolve) => (indexedDB.deleteDatabase('lipsync-studio').onsuccess = resolve));
    const opening = indexedDB.open('lipsync-studio', ${version});
    opening.onupgradeneeded = () => opening.result.createObjectStore('videos', { keyPath: 'id' });
    await new Promise((resolve) => (opening.onsuccess = resolve));
    const transaction = opening.result.transaction('videos', 'readwrite');
    const video = { ...${JSON.stringify({ id: 'ren_old', owner, expiresAt })}, storedAt: 1, file: new File(['video'], 'old.mp4') };
    transaction.objectStore('videos').put(video);
    if (${damaged}) transaction.objectStore('videos').put({ ...video, id: 'damaged', file: 'no file' });
    await new Promise((resolve) => (transaction.oncomplete = resolve));
    opening.result.close();
  })()`);
}

/** As from a file manager. */
async function drop(name: string, type: string, target: Locator): Promise<void> {
  const base64 = (await readFile(file(name))).toString('base64');
  const transfer = await page.evaluateHandle(
    `(() => {
      const bytes = Uint8Array.from(atob('${base64}'), (letter) => letter.charCodeAt(0));
      const transfer = new DataTransfer();
      transfer.items.add(new File([bytes], '${name}', { type: '${type}' }));
      return transfer;
    })()`,
  );
  await target.dispatchEvent('dragover', { dataTransfer: transfer });
  await target.dispatchEvent('drop', { dataTransfer: transfer });
}

/** Notes the media time of the picture that each video shows. */
async function watchPictures(): Promise<void> {
  await page.evaluate(`(() => {
    window.shown = {};
    for (const clip of document.querySelectorAll('.clip')) {
      const video = clip.querySelector('video');
      const watch = () => video.requestVideoFrameCallback((_now, { mediaTime }) => {
        window.shown[clip.dataset.clip] = Math.round(mediaTime * ${RATE.num});
        watch();
      });
      watch();
      // The picture that is there already is reported at the next seek only.
      window.shown[clip.dataset.clip] = Math.floor(video.currentTime * ${RATE.num} + 1e-3);
    }
  })()`);
}

/** The clock, the outputs and the source agree on what is shown at this frame of the output. */
async function expectFrame(frame: number): Promise<void> {
  const source = BOUNCED.sources[frame];
  await eventually(async () => {
    expect(await frameOnTheClock()).toBe(frame);
    expect(await page.evaluate('window.shown')).toEqual({ source, musetalk: frame, latentsync: frame });
  });
}

function isOnScreen(selector: string): Promise<boolean> {
  return page.evaluate(`(() => {
    const { top, right, bottom, left } = document.querySelector('${selector}').getBoundingClientRect();
    return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
  })()`);
}

async function frameOnTheClock(): Promise<number> {
  const text = await page.getByText(/^frame \d+ of 16$/).textContent();
  return Number(/\d+/.exec(text ?? '')?.[0]) - 1;
}
