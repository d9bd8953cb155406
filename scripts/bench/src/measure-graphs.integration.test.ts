import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isAlive } from '@lipsync/testkit';
import { type GraphTimes } from './graph-times';
import { measureGraphs } from './measure-graphs';

let folder: string;
const entry = (): string => path.join(folder, 'entry.js');
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'measure-graphs-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const FIRST = "console.log(JSON.stringify({ graph: 'unet', times: { size: process.pid, ms: 2 } }));";

test('out of time, it gives up at once, keeps what was found, and ends a process that reacts to nothing', async () => {
  await writeFile(entry(), `${FIRST} for (;;);`);
  const limit = new AbortController();
  let known: { graphs?: Record<string, GraphTimes> } = {};
  const found = (figures: object): void => {
    known = figures;
    limit.abort(new Error('the time is over'));
  };
  const measured = measureGraphs(folder, { found, signal: limit.signal, secondsLeft: () => 9 }, entry());
  await expect(measured).rejects.toThrow('the time is over');
  const { size: pid = process.pid } = known.graphs?.['unet'] ?? {};
  expect(known).toEqual({ graphs: { unet: { size: expect.any(Number) as number, ms: 2 } } });
  while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
});

test('a process that is lost is reported with its last words', async () => {
  await writeFile(entry(), `console.error('no kernel image'); process.exit(3);`);
  const tools = { found: () => undefined, signal: new AbortController().signal, secondsLeft: () => 9 };
  await expect(measureGraphs(folder, tools, entry())).rejects.toThrow('ended (3): no kernel image');
});
