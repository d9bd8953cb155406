// The places that state the version of the service: set-version.mjs writes them, release-notes.mjs compares them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const CHART = 'deploy/helm/lipsync/Chart.yaml';
const PYTHON = 'packages/client-python';
const EXAMPLE = 'deploy/helm/lipsync/examples/large.yaml';

/** Files, relative to the root, and the pattern that matches the version. */
export const VERSION_PLACES = [
  ...packageManifests().map((file) => ({
    file,
    pattern: /(?<=^ {2}"version": ")[^"]+/m,
  })),
  { file: `${PYTHON}/pyproject.toml`, pattern: /(?<=^version = ")[^"]+/m },
  { file: `${PYTHON}/README.md`, pattern: /(?<=lipsync_client-)[\d.]+(?=-py3)/m },
  ...['client', 'cli'].map((name) => ({
    file: `packages/${name}/README.md`,
    pattern: new RegExp(`(?<=/downloads/lipsync-${name}-).+(?=\\.tgz$)`, 'm'),
  })),
  { file: CHART, pattern: /(?<=^version: )\S+/m },
  { file: CHART, pattern: /(?<=^appVersion: )\S+/m },
  { file: EXAMPLE, pattern: /(?<=^ {2}tag: )\S+/m },
  { file: EXAMPLE, pattern: /(?<=^ {2}runbookBase: \S+\/blob\/v)[^/\s]+/m },
];

/** The package.json of the root and of the packages that pnpm-workspace.yaml lists: a folder, or every folder inside one. */
export function packageManifests() {
  const listed = /^packages:\n((?: +- .+\n)+)/m.exec(
    readFileSync(path.join(ROOT, 'pnpm-workspace.yaml'), 'utf8'),
  );
  const folders = [...listed[1].matchAll(/- (.+)/g)].flatMap(([, folder]) => {
    if (!folder.endsWith('/*')) return [folder];
    const parent = folder.slice(0, -2);
    return readdirSync(path.join(ROOT, parent)).map((name) => `${parent}/${name}`);
  });
  return ['.', ...folders]
    .map((folder) => path.posix.join(folder, 'package.json'))
    .filter((file) => existsSync(path.join(ROOT, file)));
}
