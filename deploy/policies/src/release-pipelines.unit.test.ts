import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';

const REPOSITORY_ROOT = path.join(__dirname, '../../..');
interface GithubWorkflow {
  jobs: Record<string, { steps?: { run?: string }[] }>;
}

const pipeline = <T>(file: string): T => parse(readFileSync(path.join(REPOSITORY_ROOT, file), 'utf8')) as T;
const gitlab = pipeline<{ release: { script: string[] } }>('.gitlab-ci.yml');
const github = pipeline<GithubWorkflow>('.github/workflows/release.yml');
const githubRuns = (github.jobs['chart']?.steps ?? []).flatMap(({ run }) => run ?? []);
const targets = [...readdirSync(path.join(REPOSITORY_ROOT, 'services')), 'gpu-worker-cuda'];

describe('a pipeline that releases', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'pipeline-'));
    for (const program of ['docker', 'helm']) {
      writeFileSync(path.join(folder, program), `#!/bin/sh\necho ${program} "$@"\n`);
      chmodSync(path.join(folder, program), 0o755);
    }
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** The docker and helm commands that a script runs. */
  function commands(script: string, env: Record<string, string>): string[] {
    const { status, stdout, stderr } = spawnSync('sh', ['-eu', '-c', script], {
      cwd: folder,
      env: { PATH: `${folder}:${process.env['PATH'] ?? ''}`, ...env },
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    return stdout.trim().split('\n');
  }

  const onGitlab = (tag: string) =>
    commands(gitlab.release.script.join('\n'), {
      CI_COMMIT_TAG: tag,
      CI_COMMIT_SHA: 'abc123',
      CI_REGISTRY_IMAGE: 'registry.test/group/lipsync',
    });

  it.each([
    ['v1.14.2', ['1.14.2', '1.14', '1']],
    ['v1.14.2-rc.1', ['1.14.2-rc.1']],
  ])('tags the images of %s on GitLab as %p, and labels them accordingly', (tag, expected) => {
    const builds = onGitlab(tag).filter((command) => command.startsWith('docker buildx build'));
    expect(builds).toHaveLength(targets.length);
    for (const target of targets) {
      const build = builds.find((command) => command.includes(`--target ${target} `)) ?? '';
      const names = [...build.matchAll(/--tag (\S+)/g)].map(([, name]) => name);
      expect(names).toEqual(expected.map((name) => `registry.test/group/lipsync/${target}:${name}`));
      expect(build).toContain(`--build-arg VERSION=${tag.slice(1)} --build-arg REVISION=abc123 `);
    }
  });

  it('packages the chart of a candidate under its tag, with the images of that tag', () => {
    const packaging = /^helm package .*--version 2\.0\.0-rc\.1 --app-version 2\.0\.0-rc\.1 /m;
    expect(onGitlab('v2.0.0-rc.1').join('\n')).toMatch(packaging);
    const script = githubRuns.find((run) => run.includes('helm package')) ?? '';
    expect(commands(script, { GITHUB_REF_NAME: 'v2.0.0-rc.1' }).join('\n')).toMatch(packaging);
  });

  it('pushes the chart to a lower-case name, as registries require, whoever owns the repository', () => {
    const pushes = githubRuns.filter((run) => run.includes('helm push'));
    expect(pushes).toEqual([expect.stringContaining('"oci://$REGISTRY/${GITHUB_REPOSITORY,,}/charts"')]);
  });
});
