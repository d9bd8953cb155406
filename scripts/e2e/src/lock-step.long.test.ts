import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { writeTinyPacks } from '@lipsync/engines/test';
import { PACKS_DIR } from '@lipsync/local-stack';
import { HANG_MS, makeFaceVideo, makeTone } from '@lipsync/testkit';
import { findChromium, findFirefox, launchChromium } from './browser';
import { type FirefoxTab, startFirefox } from './firefox';
import { awaitRender, startSystem, type System } from './system';

jest.setTimeout(240_000);

const FRAMES = 24;
const RATE = 25;
/** Every frame carries its number, in squares of so many pixels: white is a one, the lowest bit is on the left. */
const SQUARE = 16;
const BITS = 5;
const NUMBERS = [
  `drawbox=w=${SQUARE * BITS}:h=${SQUARE}:color=black:t=fill`,
  ...Array.from(
    { length: BITS },
    (_, bit) =>
      `drawbox=x=${SQUARE * bit}:w=${SQUARE}:h=${SQUARE}:color=white:t=fill:enable='mod(floor(n/${2 ** bit})\\,2)'`,
  ),
].join();

type Tab = FirefoxTab;
const chromium = findChromium();
const firefox = findFirefox();
const inChromium = chromium === null ? describe.skip : describe;
const inFirefox = firefox === null ? describe.skip : describe;

let folder: string;
let system: System;
let id: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'lock-step-'));
  await symlink(path.join(PACKS_DIR, 'analyzer'), file('analyzer'));
  await writeTinyPacks(folder);
  system = await startSystem('lock-step', { serviceEnv: { MODEL_PACKS_DIR: folder } });
  await makeFaceVideo(file('face.mp4'), { frames: FRAMES, filters: `scale=256:-2,${NUMBERS}` });
  await makeTone(file('voice.wav'), { seconds: FRAMES / RATE });
  const render = await system.api.renders.create({
    video: file('face.mp4'),
    audio: file('voice.wav'),
    engines: ['musetalk', 'latentsync', 'highsync'],
    sync_mode: 'cut_off',
  });
  id = (await awaitRender(system.api, render.id)).id;
});
afterAll(async () => {
  await system.stop();
  await rm(folder, { recursive: true, force: true });
});

inChromium('source and three engines', () => {
  it('every picture in Chromium shows the frame of the clock after every step, and after playing', async () => {
    expect(await walk(await startChromium(chromium ?? ''))).toEqual(WALK);
  });
});

inFirefox('source and three engines', () => {
  it('every picture in Firefox shows the frame of the clock after every step, and after playing', async () => {
    expect(await walk(await startFirefox(firefox ?? ''))).toEqual(WALK);
  });
});

const file = (name: string): string => path.join(folder, name);
/** What is on screen: the clock's frame, and the number in each picture. */
interface Shown {
  readonly clock: number;
  readonly pictures: Readonly<Record<string, number | null>>;
}

const inStep = (clock: number): Shown => ({
  clock,
  pictures: { source: clock, musetalk: clock, latentsync: clock, highsync: clock },
});

const STEPS = Array.from({ length: 21 }, (_, frame) => frame);
/** Back faster than any of them can follow. */
const BURST = 15;
const WALK = [...STEPS, STEPS.length - 1 - BURST, FRAMES - 1].map(inStep);

/** Steps through the clip, back in a burst, and plays to the end. */
async function walk(tab: Tab): Promise<Shown[]> {
  try {
    await openComparison(tab);
    const seen = [await settled(tab)];
    while (seen.length < STEPS.length) {
      await press(tab, 'ArrowRight');
      seen.push(await settled(tab));
    }
    await press(tab, ...Array.from({ length: BURST }, () => 'ArrowLeft'));
    seen.push(await settled(tab));
    await press(tab, 'l', ' ');
    await tab.evaluate(`until(() => clock() > ${FRAMES - 5})`);
    await tab.evaluate(`until(() => document.querySelector('[aria-label="Play"]') !== null)`);
    seen.push(await settled(tab));
    return seen;
  } finally {
    await tab.close();
  }
}

/** Signs in as after a reload, and puts the source beside the results. */
async function openComparison(tab: Tab): Promise<void> {
  const studio = `${system.description.base_url}/studio`;
  await tab.visit(studio);
  await tab.evaluate(
    `Object.assign(sessionStorage, ${JSON.stringify({
      'lipsync-studio.api-key': system.customer.api_key,
      'lipsync-studio.owner': 'nobody',
      'lipsync-studio.signed-out-before': 'never',
    })})`,
  );
  await tab.visit(`${studio}?again#/renders/${id}`);
  await tab.evaluate(WATCH);
  await tab.evaluate(`until(() => document.querySelector('.source-choice input') !== null)`);
  await tab.chooseFile('.source-choice input', file('face.mp4'));
  await tab.evaluate(`until(() => document.querySelectorAll('.clip').length === 4)`);
}

async function press(tab: Tab, ...keys: string[]): Promise<void> {
  await tab.evaluate(
    `${JSON.stringify(keys)}.forEach((key) => document.dispatchEvent(new KeyboardEvent('keydown', { key })))`,
  );
}

/** What is shown once no video seeks any more. */
async function settled(tab: Tab): Promise<Shown> {
  await tab.evaluate(`until(() => videos().every((video) => video.readyState >= 2 && !video.seeking))`);
  // The last picture of a seek comes on screen a refresh or two after it has ended.
  await tab.evaluate(`until(() => Object.values(shown()).every((frame) => frame === clock()))`);
  return tab.evaluate(`({ clock: clock(), pictures: shown() })`);
}

/** Functions of the page: the number on the clock, and those in the pictures. */
const WATCH = `(() => {
  const canvas = Object.assign(document.createElement('canvas'), { width: ${SQUARE * BITS}, height: ${SQUARE} });
  const context = canvas.getContext('2d', { willReadFrequently: true });
  window.videos = () => [...document.querySelectorAll('.clip video')];
  window.clock = () => parseInt(document.querySelector('.transport-frame').textContent.slice('frame '.length)) - 1;
  window.numberIn = (video) => {
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(video, 0, 0);
    let number = 0;
    for (let bit = 0; bit < ${BITS}; bit++) {
      const [red, , , alpha] = context.getImageData(${SQUARE} * (bit + 0.5), ${SQUARE / 2}, 1, 1).data;
      if (alpha === 0) return null;
      if (red > 128) number += 2 ** bit;
    }
    return number;
  };
  window.shown = () => Object.fromEntries(videos().map((video) => [video.closest('.clip').dataset.clip, numberIn(video)]));
  window.until = (isSo) => new Promise((resolve, reject) => {
    const end = performance.now() + ${HANG_MS};
    const look = () => {
      if (isSo()) resolve();
      else if (performance.now() < end) requestAnimationFrame(look);
      else reject(new Error(isSo + ' never came; on screen: ' + JSON.stringify(shown())));
    };
    look();
  });
})()`;

async function startChromium(executable: string): Promise<Tab> {
  const browser = await launchChromium(executable);
  const page = await browser.newPage();
  return {
    visit: async (url) => void (await page.goto(url)),
    evaluate: <Value>(expression: string) => page.evaluate<Value>(expression),
    chooseFile: (selector, chosen) => page.setInputFiles(selector, chosen),
    close: () => browser.close(),
  };
}
