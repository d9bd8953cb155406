import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const REPOSITORY_ROOT = path.join(__dirname, '../../..');

/** Files that are written or compared for a release, relative to the root. */
const FILES = [
  ...['release-notes.mjs', 'set-version.mjs', 'version-places.mjs'].map((name) => `scripts/${name}`),
  ...['CHANGELOG.md', 'pnpm-workspace.yaml'],
  ...['lipsync/Chart.yaml', 'lipsync/examples/large.yaml'].map((name) => `deploy/helm/${name}`),
  ...['cli', 'client', 'client-python'].map((name) => `packages/${name}/README.md`),
  'packages/client-python/pyproject.toml',
];
const PACKAGES = [
  ...['.', 'prisma', 'deploy/policies'],
  ...['packages', 'scripts', 'services'].flatMap((parent) =>
    readdirSync(path.join(REPOSITORY_ROOT, parent)).map((name) => `${parent}/${name}`),
  ),
]
  .map((folder) => `${folder}/package.json`)
  .filter((file) => existsSync(path.join(REPOSITORY_ROOT, file)));

describe('a release', () => {
  let root: string;
  const edit = (file: string, change: (text: string) => string): void => {
    const name = path.join(root, file);
    writeFileSync(name, change(readFileSync(name, 'utf8')));
  };
  const run = (script: string, argument: string) =>
    spawnSync(process.execPath, [path.join(root, 'scripts', script), argument], { encoding: 'utf8' });
  const notes = (tag: string) => run('release-notes.mjs', tag);

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'release-'));
    for (const file of [...FILES, ...PACKAGES])
      cpSync(path.join(REPOSITORY_ROOT, file), path.join(root, file), { recursive: true });
    const release = '## [Unreleased]\n\n## [9.8.7] - 2030-01-01\n\nNew.\n\n';
    edit('CHANGELOG.md', (text) => text.replace(/^## \[Unreleased\]\n.*?^(?=## )/ms, release));
    const { status, stderr } = run('set-version.mjs', '9.8.7');
    if (status !== 0) throw new Error(stderr);
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it.each(['v9.8.7', 'v9.8.7-rc.1'])('gets the notes of its section when it is tagged %s', (tag) => {
    expect(notes(tag)).toMatchObject({ status: 0, stderr: '', stdout: 'New.\n' });
    for (const file of PACKAGES)
      expect(JSON.parse(readFileSync(path.join(root, file), 'utf8'))).toMatchObject({ version: '9.8.7' });
  });

  it.each([
    // The version that metrics and traces report.
    ['packages/telemetry/package.json', '"version": "9.8.7"'],
    ['deploy/helm/lipsync/Chart.yaml', 'appVersion: 9.8.7'],
    ['packages/client/README.md', '/downloads/lipsync-client-9.8.7.tgz'],
    ['deploy/helm/lipsync/examples/large.yaml', '/blob/v9.8.7/'],
  ])('is blocked when %s was left behind (%s)', (file, place) => {
    edit(file, (text) => text.replace(place, place.replace('9.8.7', '1.0.0')));
    const { status, stderr } = notes('v9.8.7');
    expect(status).toBe(1);
    expect(stderr).toContain(`${file} says 1.0.0`);
  });

  it('is made only of a version, and of its own tag', () => {
    expect(run('set-version.mjs', '9.8.7-rc.1').status).toBe(1);
    expect(notes('9.8.7').status).toBe(1);
    expect(notes('v999.0.0').status).toBe(1);
  });
});
