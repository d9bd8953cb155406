import { ApiError, LipSync } from '@lipsync/client';
import type { Command } from 'commander';
import { CommandError } from '../failures/exit-codes';
import { isObject } from '../is-object';
import { checkApiKey, checkBaseUrl, type ConnectionFlags, masked, profileNamed } from '../session/connection';
import { checkProfileName, readProfiles, writeProfiles } from '../session/profiles';
import type { Session } from '../session/session';
import { askFor, askForSecret } from './prompt';

const DEFAULT_PROFILE = 'default';

export function addLoginCommands(program: Command, session: Session): void {
  const flags = () => program.opts<ConnectionFlags>();

  program
    .command('login')
    .description('store a key; prompts for it without echo, or reads it from standard input')
    .action(async () => {
      const { profile = session.env['LIPSYNC_PROFILE'] ?? DEFAULT_PROFILE, baseUrl } = flags();
      const name = checkProfileName(profile);
      const known = await readProfiles(session.profilesFile);
      const address = baseUrl ?? session.env['LIPSYNC_BASE_URL'] ?? known.byName.get(name)?.baseUrl;
      const service = checkBaseUrl(address ?? (await askFor('URL of the service: ', session)));
      session.warnOfClearText(service);
      const apiKey = checkApiKey(await askForSecret('API key: ', session), 'That', 'usage');
      const login = { baseUrl: service, apiKey };
      await checkKey(new LipSync({ ...login, maxRetries: 1 }), session);
      await writeProfiles(session.profilesFile, {
        current: name,
        byName: new Map(known.byName).set(name, login),
      });
      session.answer({ profile: name, base_url: login.baseUrl }, [
        `Logged in to ${login.baseUrl} as profile "${name}".`,
      ]);
    });

  program
    .command('whoami')
    .description('show the profile, key and service in use, and whether the service accepts the key')
    .action(async () => {
      const { profile, baseUrl, apiKey } = await session.connection();
      const client = await session.client({ maxRetries: 1 });
      const failure = await checkKey(client, session).catch((error: unknown) => ({ error }));
      const version = failure === undefined ? await versionOf(baseUrl) : null;
      const found = {
        profile,
        base_url: baseUrl,
        key: masked(apiKey),
        works: failure === undefined,
        interface_version: version,
      };
      session.answer(found, [
        `profile  ${profile ?? 'none: LIPSYNC_API_KEY is used'}`,
        `service  ${baseUrl}${version === null ? '' : `, interface ${version}`}`,
        `key      ${found.key}, ${found.works ? 'accepted' : 'not confirmed'}`,
      ]);
      if (failure !== undefined) throw failure.error;
    });

  program
    .command('logout')
    .description('forget the key of a profile; it stays valid until it is revoked')
    .action(async () => {
      const known = await readProfiles(session.profilesFile);
      const name = flags().profile ?? session.env['LIPSYNC_PROFILE'] ?? known.current;
      if (name === null) throw new CommandError('There is no login.', 'failed');
      profileNamed(name, known);
      const byName = new Map(known.byName);
      byName.delete(name);
      const current = known.current === name ? null : known.current;
      await writeProfiles(session.profilesFile, { current, byName });
      session.answer({ profile: name }, [`Forgot the key of profile "${name}".`]);
    });

  const profiles = program.command('profiles').description('list or switch your logins');
  profiles
    .command('list', { isDefault: true })
    .description('list the profiles; the one in use is marked')
    .action(async () => {
      const known = await readProfiles(session.profilesFile);
      const used = await session.connection().catch(() => null);
      const rows = [...known.byName].map(([name, { baseUrl, apiKey }]) => ({
        name,
        base_url: baseUrl,
        key_ends_in: apiKey.slice(-4),
        used: used?.profile === name,
      }));
      session.answer(
        rows,
        rows.map(
          (row) => `${row.used ? '*' : ' '} ${row.name.padEnd(16)} ${row.base_url}  …${row.key_ends_in}`,
        ),
      );
      if (used !== null && used.profile === null) session.say(`LIPSYNC_API_KEY is used, at ${used.baseUrl}.`);
      else if (rows.length === 0) session.say('None yet: lipsync login');
    });
  profiles
    .command('use <name>')
    .description('make this profile the current one')
    .action(async (name: string) => {
      const known = await readProfiles(session.profilesFile);
      const { baseUrl } = profileNamed(name, known);
      await writeProfiles(session.profilesFile, { ...known, current: name });
      session.answer({ profile: name, base_url: baseUrl }, [`Profile "${name}" is current, at ${baseUrl}.`]);
    });
}

const NO_RENDER = 'ren_00000000000000000000000000';

/**
 * Asks for a render that cannot exist: a valid key is told so, any other is refused.
 * @param client with few retries: somebody is waiting, and retries do not correct a wrong URL
 */
async function checkKey(client: LipSync, session: Session): Promise<void> {
  try {
    await client.renders.get(NO_RENDER, { signal: session.interrupted });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'render_not_found') return;
    throw error;
  }
}

const VERSION_MS = 5_000;

/** The version of the interface that the service describes, to anybody who asks; null if it does not. */
async function versionOf(baseUrl: string): Promise<string | null> {
  const stopped = new AbortController();
  const timer = setTimeout(() => stopped.abort(), VERSION_MS);
  try {
    const response = await fetch(`${baseUrl}/openapi.json`, { signal: stopped.signal });
    const document: unknown = await response.json();
    const info = isObject(document) ? document['info'] : undefined;
    return isObject(info) && typeof info['version'] === 'string' ? info['version'] : null;
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
