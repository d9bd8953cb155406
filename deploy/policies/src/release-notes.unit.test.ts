import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const REPOSITORY_ROOT = path.join(__dirname, '../../..');
const run = (root: string, script: string, argument: string) =>
  spawnSync(process.execPath, [path.join(root, 'scripts', script), argument], { encoding: 'utf8' });
const SUCCESS = { status: 0, stderr: '' };

/** Files that are written or compared for a release, relative to the root. */
const FILES = [
  ...['release-notes.mjs', 'set-version.mjs', 'version-places.mjs'].map((name) => `scripts/${name}`),
  ...['CHANGELOG.md', 'pnpm-workspace.yaml'],
  ...['lipsync/Chart.yaml', 'lipsync/examples/large.yaml'].map((name) => `deploy/helm/${name}`),
];
const PACKAGES = [
  ...['.', 'prisma', 'deploy/policies'],
  ...['packages', 'scripts', 'services'].flatMap((parent) =>
    readdirSync(path.join(REPOSITORY_ROOT, parent)).map((name) => `${parent}/${name}`),
  ),
]
  .map((folder) => `${folder}/package.json`)
  .filter((file) => existsSync(path.join(REPOSITORY_ROOT, file)));

describe('the notes of a release', () => {
  const { version } = JSON.parse(readFileSync(path.join(REPOSITORY_ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };

  it.each([`v${version}`, `v${version}-rc.1`])('exist for %s, the version of this checkout', (tag) => {
    const { stdout, ...outcome } = run(REPOSITORY_ROOT, 'release-notes.mjs', tag);
    expect(outcome).toMatchObject(SUCCESS);
    expect(stdout).toMatch(/^### /);
    expect(stdout).not.toMatch(/^## /m);
  });

  it.each([
    ['v999.0.0', 'package.json says'],
    ['v999.0.0-rc.1', 'package.json says'],
    ['1.0.0', 'not a tag'],
    ['', 'not a tag'],
  ])('are refused for the tag %p', (tag, reason) => {
    const { status, stderr } = run(REPOSITORY_ROOT, 'release-notes.mjs', tag);
    expect(status).toBe(1);
    expect(stderr).toContain(reason);
  });
});

describe('the version of the next release', () => {
  let root: string;
  const edit = (file: string, change: (text: string) => string): void => {
    const name = path.join(root, file);
    writeFileSync(name, change(readFileSync(name, 'utf8')));
  };
  const setVersion = (version: string) => run(root, 'set-version.mjs', version);
  const notes = (tag: string) => run(root, 'release-notes.mjs', tag);

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'release-'));
    for (const file of [...FILES, ...PACKAGES])
      cpSync(path.join(REPOSITORY_ROOT, file), path.join(root, file), { recursive: true });
    const release = '## [Unreleased]\n\n## [9.8.7] - 2030-01-01\n\nNew.\n\n';
    edit('CHANGELOG.md', (text) => text.replace(/^## \[Unreleased\]\n.*?^(?=## )/ms, release));
  });
  afterEach(() => rmSync(root, { recursive: true }));

  it('is written by one command wherever it is compared', () => {
    expect(setVersion('9.8.7')).toMatchObject(SUCCESS);
    expect(notes('v9.8.7')).toMatchObject({ ...SUCCESS, stdout: 'New.\n' });
    expect(notes('v9.8.7-rc.1')).toMatchObject(SUCCESS);
    for (const file of PACKAGES)
      expect(JSON.parse(readFileSync(path.join(root, file), 'utf8'))).toMatchObject({ version: '9.8.7' });
  });

  it.each([
    // The version that metrics and traces report.
    ['packages/telemetry/package.json', '"version": "9.8.7"'],
    ['deploy/policies/package.json', '"version": "9.8.7"'],
    ['deploy/helm/lipsync/Chart.yaml', 'appVersion: 9.8.7'],
    ['deploy/helm/lipsync/examples/large.yaml', 'tag: 9.8.7'],
    ['deploy/helm/lipsync/examples/large.yaml', '/blob/v9.8.7/'],
  ])('blocks a release when %s was left behind (%s)', (file, place) => {
    setVersion('9.8.7');
    edit(file, (text) => text.replace(place, place.replace('9.8.7', '1.0.0')));
    const { status, stderr } = notes('v9.8.7');
    expect(status).toBe(1);
    expect(stderr).toContain(`${file} says 1.0.0`);
  });

  it.each(['', 'v9.8.7', '9.8.7-rc.1'])('is never %p', (version) => {
    const { status, stderr } = setVersion(version);
    expect(status).toBe(1);
    expect(stderr).toContain('not a version');
  });
});
