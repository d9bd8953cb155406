import { lstat, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { CommandError } from '../failures/exit-codes';

/** Says where a path leads, if that is a place that an agent may use. */
export interface Folders {
  /** Real paths. Relative paths begin in the first. Empty where the server may use no files at all. */
  readonly all: readonly string[];
  /**
   * The real path of what is named, whether it exists or not; a slash at its end stays.
   * @throws CommandError when it is in none of the folders, also by way of a symbolic link
   */
  resolve(named: string): Promise<string>;
}

/**
 * @param given folders that the user named; without them it is the working directory. Desktop programs start
 * servers in the root of the file system, which nobody means to share: there it is none.
 * @throws CommandError when one of them is no folder
 */
export async function openFolders(given: readonly string[], workingDirectory: string): Promise<Folders> {
  const isRoot = path.parse(workingDirectory).root === workingDirectory;
  const named = given.length > 0 ? given : isRoot ? [] : [workingDirectory];
  const all = await Promise.all(named.map(realFolder));
  return { all, resolve: (text) => resolveWithin(all, text) };
}

async function realFolder(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => null);
  if (found?.isDirectory() !== true) throw new CommandError(`${folder} is not a folder.`, 'usage');
  return realpath(folder);
}

async function resolveWithin(folders: readonly string[], named: string): Promise<string> {
  const [first] = folders;
  if (first === undefined)
    throw new CommandError(
      'This server may not use any files.',
      'usage',
      'The user can add "--root" and a folder to the arguments of this server in the configuration of the agent.',
    );
  const real = await realPathOf(path.resolve(first, named));
  if (folders.some((folder) => isWithin(folder, real)))
    return /[/\\]$/.test(named) ? `${real}${path.sep}` : real;
  throw new CommandError(
    `${named} is outside the folders that this server may use: ${folders.join(', ')}`,
    'usage',
    'Use a path in one of them. The user can add a folder to the arguments of this server, after "--root".',
  );
}

/** What does not exist yet is where the part of its path that exists leads. */
async function realPathOf(absolute: string): Promise<string> {
  if ((await lstat(absolute).catch(() => null)) !== null) return realpath(absolute);
  const parent = path.dirname(absolute);
  return parent === absolute ? absolute : path.join(await realPathOf(parent), path.basename(absolute));
}

function isWithin(folder: string, real: string): boolean {
  const way = path.relative(folder, real);
  return way !== '..' && !way.startsWith(`..${path.sep}`) && !path.isAbsolute(way);
}
