import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';

const REPOSITORY_ROOT = path.join(__dirname, '../../..');
const gitlab = parse(readFileSync(path.join(REPOSITORY_ROOT, '.gitlab-ci.yml'), 'utf8')) as {
  release: { script: string[] };
};
const targets = [...readdirSync(path.join(REPOSITORY_ROOT, 'services')), 'gpu-worker-cuda', 'gpu-tools'];

/** The docker and helm commands of GitLab's release of a tag. */
function commandsFor(tag: string): string[] {
  const folder = mkdtempSync(path.join(tmpdir(), 'pipeline-'));
  for (const program of ['docker', 'helm']) {
    writeFileSync(path.join(folder, program), `#!/bin/sh\necho ${program} "$@"\n`);
    chmodSync(path.join(folder, program), 0o755);
  }
  const { status, stdout, stderr } = spawnSync('sh', ['-eu', '-c', gitlab.release.script.join('\n')], {
    cwd: folder,
    env: {
      PATH: `${folder}:${process.env['PATH'] ?? ''}`,
      CI_COMMIT_TAG: tag,
      CI_COMMIT_SHA: 'abc123',
      CI_REGISTRY_IMAGE: 'registry.test/group/lipsync',
    },
    encoding: 'utf8',
  });
  rmSync(folder, { recursive: true });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.trim().split('\n');
}

// On GitHub an action works the tags out.
it.each([
  ['v1.14.2', ['1.14.2', '1.14', '1']],
  ['v1.14.2-rc.1', ['1.14.2-rc.1']],
])('GitLab releases %s as images and chart of the versions %p', (tag, versions) => {
  const commands = commandsFor(tag);
  for (const target of targets) {
    const build = commands.find((command) => command.includes(`--target ${target} `)) ?? '';
    const names = [...build.matchAll(/--tag (\S+)/g)].map(([, name]) => name);
    expect(names).toEqual(versions.map((version) => `registry.test/group/lipsync/${target}:${version}`));
    expect(build).toContain(`--build-arg VERSION=${tag.slice(1)} --build-arg REVISION=abc123 `);
  }
  const chart = `--version ${tag.slice(1)} --app-version ${tag.slice(1)} `;
  expect(commands.find((command) => command.startsWith('helm package'))).toContain(chart);
});
