import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { profilesFile, readProfiles, writeProfiles } from './profiles';

const profile = { baseUrl: 'https://api.example.com', apiKey: `svc_${'ab'.repeat(32)}` };
let home: string;
let file: string;

beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'cli-profiles-'));
  file = profilesFile({ XDG_CONFIG_HOME: home });
});
afterEach(() => rm(home, { recursive: true, force: true }));

it('keeps keys where nobody else can read them, even in a folder that was open before', async () => {
  await mkdir(path.dirname(file));
  await chmod(path.dirname(file), 0o755);
  await writeFile(file, '{"profiles":{}}', { mode: 0o644 });
  const profiles = { current: 'work', byName: new Map([['work', profile]]) };
  await writeProfiles(file, profiles);
  expect(await readProfiles(file)).toEqual(profiles);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
  expect(await readdir(path.dirname(file))).toEqual(['config.json']);
});

it('has no profiles before the first login', async () => {
  expect(await readProfiles(file)).toEqual({ current: null, byName: new Map() });
});

it.each(['', '{', '[]', '{"profiles":{"work":{"base_url":"https://api.example.com"}}}'])(
  'says which file is damaged: %s',
  async (text) => {
    await mkdir(path.dirname(file));
    await writeFile(file, text);
    await expect(readProfiles(file)).rejects.toThrow(`${file} is damaged`);
  },
);

it('ignores a relative XDG_CONFIG_HOME, as the specification asks', () => {
  expect(path.isAbsolute(profilesFile({ XDG_CONFIG_HOME: 'here' }))).toBe(true);
});
