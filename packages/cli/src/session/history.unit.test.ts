import { appendFile, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Asset } from '@lipsync/client';
import { historyFolder, openHistory } from './history';

let folder: string;
let warnings: string[];
const open = () => openHistory(folder, (message) => warnings.push(message));

beforeEach(async () => {
  warnings = [];
  folder = path.join(await mkdtemp(path.join(tmpdir(), 'cli-history-')), 'made');
});
afterEach(() => rm(path.dirname(folder), { recursive: true, force: true }));

const made = (id: string) => ({ id, created_at: '2026-01-01T00:00:00.000Z', status: 'pending' }) as Asset;
const numbered = (n: number) => `ast_01k${String(n).padStart(6, '0')}`;

it('keeps what processes write at once', async () => {
  const processes = Array.from({ length: 8 }, open);
  await Promise.all(processes.map((history, i) => history.add(made(numbered(i)), ['face.mp4'])));
  await Promise.all(processes.map((history, i) => history.note(numbered(0), { files: [`/${i}.mp4`] })));
  await open().note(numbered(0), { status: 'ready' });
  const all = await open().all();
  expect(all.map(({ id }) => id)).toEqual(processes.map((_, i) => numbered(7 - i)));
  const { status, files } = all.at(-1) ?? {};
  expect({ status, files: files?.sort() }).toEqual({
    status: 'ready',
    files: processes.map((_, i) => `/${i}.mp4`),
  });
  expect(warnings).toEqual([]);
});

it('keeps the newest 500, whatever their kind, for nobody else to read', async () => {
  const history = open();
  await history.add(made(numbered(0)), []);
  for (let n = 1; n <= 500; n++)
    await appendFile(path.join(folder, `ren_01k${String(n).padStart(6, '0')}.jsonl`), '{}\n');
  await history.add(made(numbered(501)), []);
  const ids = await history.ids();
  expect([ids.length, ids[0], ids.at(-1)]).toEqual([500, numbered(501), 'ren_01k000002']);
  expect((await stat(path.join(folder, `${numbered(501)}.jsonl`))).mode & 0o777).toBe(0o600);
  expect((await stat(folder)).mode & 0o777).toBe(0o700);
});

it('remembers news of what was made here alone, and nothing of what was forgotten', async () => {
  const history = open();
  await history.add(made(numbered(1)), []);
  await history.note(numbered(2), { status: 'ready' });
  await history.forget([numbered(1)]);
  await history.note(numbered(1), { status: 'ready' });
  expect(await readdir(folder)).toEqual([]);
});

it('reads past a line that was cut off', async () => {
  const history = open();
  await history.add(made(numbered(1)), ['voice.wav']);
  await appendFile(path.join(folder, `${numbered(1)}.jsonl`), '{"status":"rea');
  expect(await history.get(numbered(1))).toMatchObject({ status: 'pending', inputs: ['voice.wav'] });
});

it('says that it could not remember, and goes on', async () => {
  await appendFile(folder, 'a file where the folder belongs');
  await open().add(made(numbered(1)), []);
  expect(warnings).toEqual([expect.stringContaining(`${numbered(1)} is missing in lipsync list`)]);
});

it('is apart for each profile, service and key of the environment', () => {
  const env = { XDG_STATE_HOME: '/state' };
  const at = (profile: string | null, baseUrl: string, apiKey: string) =>
    historyFolder(env, { profile, baseUrl, apiKey });
  const folders = [
    at('..', 'https://a.example', 'svc_1'),
    at('work', 'https://a.example', 'svc_1'),
    at('work', 'https://b.example', 'svc_1'),
    at(null, 'https://a.example', 'svc_1'),
    at(null, 'https://a.example', 'svc_2'),
  ];
  expect(new Set(folders).size).toBe(5);
  for (const each of folders) expect(path.dirname(each)).toBe('/state/lipsync/made');
  // A key may be replaced.
  expect(at('work', 'https://a.example', 'svc_2')).toBe(folders[1]);
});
