import { randomUUID } from 'node:crypto';
import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { CommandError } from '../failures/exit-codes';
import { isObject } from '../is-object';

/** A service and the key for it, under a name. */
export interface Profile {
  baseUrl: string;
  apiKey: string;
}

export interface Profiles {
  /** The profile that is used when none is named: the one that last logged in, or was chosen. */
  current: string | null;
  byName: ReadonlyMap<string, Profile>;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^[\w.-]{1,64}$/;

/** `$XDG_CONFIG_HOME/lipsync/config.json`, by default below `~/.config`. */
export function profilesFile(env: Environment): string {
  return path.join(ownFolder(env, 'XDG_CONFIG_HOME', '.config'), 'config.json');
}

/** This command's part of a folder that the XDG Base Directory Specification names. */
export function ownFolder(env: Environment, variable: string, byDefault: string): string {
  const configured = env[variable];
  // The specification says that relative paths are invalid and to be ignored.
  const base = configured !== undefined && path.isAbsolute(configured) ? configured : undefined;
  return path.join(base ?? path.join(env['HOME'] ?? homedir(), byDefault), 'lipsync');
}

/** Returns no profiles when there is no file yet. */
export async function readProfiles(file: string): Promise<Profiles> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    if (isObject(error) && error['code'] === 'ENOENT') return { current: null, byName: new Map() };
    throw error;
  }
  const profiles = parse(text);
  if (profiles === null)
    throw new CommandError(`${file} is damaged.`, 'failed', 'Delete it and log in again: lipsync login');
  return profiles;
}

/** Appears as a whole, so that an interrupted write loses no key, and is never readable by others. */
export async function writeProfiles(file: string, { current, byName }: Profiles): Promise<void> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await chmod(folder, 0o700);
  const profiles = Object.fromEntries(
    [...byName].map(([name, { baseUrl, apiKey }]) => [name, { base_url: baseUrl, api_key: apiKey }]),
  );
  const part = `${file}.${randomUUID()}`;
  try {
    await writeFile(part, `${JSON.stringify({ current, profiles }, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(part, file);
  } finally {
    await rm(part, { force: true });
  }
}

export function checkProfileName(name: string): string {
  if (NAME.test(name)) return name;
  throw new CommandError(
    `"${name}" is not a valid profile name.`,
    'usage',
    'Use 1 to 64 letters, digits, dots, hyphens and underscores.',
  );
}

function parse(text: string): Profiles | null {
  try {
    const content: unknown = JSON.parse(text);
    if (!isObject(content) || !isObject(content['profiles'])) return null;
    const byName = new Map<string, Profile>();
    for (const [name, value] of Object.entries(content['profiles'])) {
      if (!isObject(value)) return null;
      const { base_url: baseUrl, api_key: apiKey } = value;
      if (typeof baseUrl !== 'string' || typeof apiKey !== 'string') return null;
      byName.set(name, { baseUrl, apiKey });
    }
    const { current } = content;
    return { current: typeof current === 'string' && byName.has(current) ? current : null, byName };
  } catch {
    return null;
  }
}
