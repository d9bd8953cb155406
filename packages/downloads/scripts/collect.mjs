// Writes to dist/ what the api serves at /downloads: of every workspace among the devDependencies the tarball that
// `pnpm publish` would send to npm, or of one that npm cannot hold (its package.json is private) the files of its dist/.
// The files are the same bytes whenever they are made of the same sources: callers' lockfiles name them by their hash.
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const DIST = path.join(PACKAGE, 'dist');
const manifestOf = (folder) => JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));

rmSync(DIST, { recursive: true, force: true });
mkdirSync(DIST);
for (const name of Object.keys(manifestOf(PACKAGE).devDependencies)) {
  const folder = realpathSync(path.join(PACKAGE, 'node_modules', name));
  if (manifestOf(folder).private) copyAll(path.join(folder, 'dist'));
  else pack(folder);
}

function copyAll(folder) {
  for (const file of readdirSync(folder)) copyFileSync(path.join(folder, file), path.join(DIST, file));
}

/** With what is built already: turbo builds a workspace after those that it names. */
function pack(folder) {
  execFileSync('pnpm', ['pack', '--config.ignore-scripts=true', '--pack-destination', DIST], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
