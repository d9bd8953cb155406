import { isApiKey } from '@lipsync/client';
import { CommandError, type Outcome } from '../failures/exit-codes';
import { checkProfileName, type Environment, type Profile, type Profiles } from './profiles';

export interface ConnectionFlags {
  profile?: string;
  baseUrl?: string;
}

/** What a command talks to, and where each part came from. */
export interface Connection {
  baseUrl: string;
  apiKey: string;
  /** The name of the profile whose key is used; null when the key is that of the environment. */
  profile: string | null;
}

const LOG_IN = 'Set LIPSYNC_API_KEY and LIPSYNC_BASE_URL, or log in with lipsync login.';

/**
 * Flags come before the environment, and the environment before the profiles: a profile that is named with --profile is
 * not overridden by LIPSYNC_API_KEY. The key of a profile is sent to the URL that it was stored with and to no other,
 * whatever else says where to send it; so a URL alone chooses the profile that is for it.
 */
export function resolveConnection(flags: ConnectionFlags, env: Environment, profiles: Profiles): Connection {
  const environmentKey = flags.profile === undefined ? setting(env, 'LIPSYNC_API_KEY') : undefined;
  const environmentUrl = flags.profile === undefined ? setting(env, 'LIPSYNC_BASE_URL') : undefined;
  const wantedUrl = flags.baseUrl ?? environmentUrl;
  const named = flags.profile ?? setting(env, 'LIPSYNC_PROFILE');

  if (environmentKey !== undefined) {
    const baseUrl = wantedUrl ?? profiles.byName.get(named ?? profiles.current ?? '')?.baseUrl;
    if (baseUrl === undefined)
      throw new CommandError(
        'The URL of the service is missing.',
        'usage',
        'Use --base-url or LIPSYNC_BASE_URL.',
      );
    return { baseUrl: checkBaseUrl(baseUrl), apiKey: environmentKey, profile: null };
  }

  const profileName =
    named ?? (wantedUrl === undefined ? profiles.current : profileFor(checkBaseUrl(wantedUrl), profiles));
  if (profileName === null) throw new CommandError('There is no API key yet.', 'unauthorized', LOG_IN);
  const profile = profileNamed(profileName, profiles);
  if (wantedUrl !== undefined && checkBaseUrl(wantedUrl) !== profile.baseUrl)
    throw new CommandError(
      `The key of profile "${profileName}" is for ${profile.baseUrl}, not for ${checkBaseUrl(wantedUrl)}.`,
      'unauthorized',
      `Log in there too: lipsync login --base-url ${wantedUrl} --profile NAME`,
    );
  return { ...profile, profile: profileName };
}

/** The profile that is for a URL: the current one, if it is, or the only one. The current one if none is. */
function profileFor(baseUrl: string, { byName, current }: Profiles): string | null {
  const fitting = [...byName.keys()].filter((name) => byName.get(name)?.baseUrl === baseUrl);
  if (current !== null && fitting.includes(current)) return current;
  const [only = current, ...others] = fitting;
  if (others.length === 0) return only;
  throw new CommandError(
    `Several profiles are for ${baseUrl}: ${fitting.join(', ')}.`,
    'unauthorized',
    'Choose one: --profile NAME',
  );
}

/** @throws CommandError when there is no such profile */
export function profileNamed(name: string, { byName }: Profiles): Profile {
  const profile = byName.get(checkProfileName(name));
  if (profile !== undefined) return profile;
  const known = byName.size === 0 ? 'none yet' : [...byName.keys()].join(', ');
  throw new CommandError(
    `There is no profile "${name}" (known: ${known}).`,
    'unauthorized',
    `Create it: lipsync login --profile ${name}`,
  );
}

/**
 * @param what the text is called in the error
 * @throws CommandError for what no service can have given out, such as a key that was not copied as a whole
 */
export function checkApiKey(text: string, what: string, outcome: Outcome): string {
  if (isApiKey(text)) return text;
  throw new CommandError(`${what} is not an API key.`, outcome, 'A key is svc_ and 64 hexadecimal digits.');
}

/** A key as it may be shown: enough to tell two apart. */
export function masked(apiKey: string): string {
  return `svc_…${apiKey.slice(-4)}`;
}

/** The URL in one spelling, without a slash at its end. */
export function checkBaseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !['https:', 'http:'].includes(url.protocol) || url.search !== '' || url.hash !== '')
    throw new CommandError(
      `"${text}" is not the URL of a service.`,
      'usage',
      'Use one like https://api.example.com',
    );
  if (url.username !== '' || url.password !== '')
    throw new CommandError('The URL of the service must not contain a user name or password.', 'usage');
  return url.href.replace(/\/+$/, '');
}

/** Says whether a key that is sent there can be read on the way: without TLS, and not on this machine. */
export function isReadOnTheWay(baseUrl: string): boolean {
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !/^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}

/** An empty variable counts as not set, as shells make it hard to unset one for a single command. */
function setting(env: Environment, name: string): string | undefined {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
}
