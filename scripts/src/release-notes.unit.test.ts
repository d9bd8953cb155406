import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { REPOSITORY_ROOT } from './local-stack/layout';

const notes = (tag: string) =>
  spawnSync(process.execPath, [path.join(REPOSITORY_ROOT, 'scripts', 'release-notes.mjs'), tag], {
    encoding: 'utf8',
  });

describe('the notes of a release', () => {
  const { version } = JSON.parse(readFileSync(path.join(REPOSITORY_ROOT, 'package.json'), 'utf8')) as {
    version: string;
  };

  it('are there for the version that package.json and the chart name', () => {
    const { status, stdout, stderr } = notes(`v${version}`);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatch(/^### /);
    expect(stdout).not.toMatch(/^## /m);
  });

  it.each([
    ['v999.0.0', 'package.json says'],
    ['1.0.0', 'not a tag'],
    ['', 'not a tag'],
  ])('are refused for the tag %p', (tag, reason) => {
    const { status, stderr } = notes(tag);
    expect(status).toBe(1);
    expect(stderr).toContain(reason);
  });
});
