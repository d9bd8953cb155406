import { createHash } from 'node:crypto';
import { appendFile, constants, mkdir, open, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import type { Asset, PreparationRecord, RenderRecord } from '@lipsync/client';
import { failureOf } from '../failures/failures';
import { kindOf } from '../ids';
import { isObject } from '../is-object';
import type { Connection } from './connection';
import { type Environment, ownFolder } from './profiles';

/** What this command made with a key, as it last heard of it. */
export interface Made {
  id: string;
  created_at: string;
  /** The service's word; `expired` when it has forgotten it. */
  status: string;
  /** What it was made of: full names of files, URLs without their queries, ids of assets. */
  inputs: string[];
  engines: string[];
  /** Full names of the results that were saved. */
  files: string[];
}

/** Everything that this command made with one key, on this machine, whatever process did it. */
export interface History {
  /** Remembers what was just made. A render that is created again under its idempotency key stays one. */
  add(made: RenderRecord | PreparationRecord | Asset, inputs: readonly string[]): Promise<void>;
  /** Remembers how something ended and what was saved of it, if it was made here. */
  note(id: string, news: { status?: string | undefined; files?: readonly string[] }): Promise<void>;
  /** The newest first. */
  ids(): Promise<string[]>;
  get(id: string): Promise<Made | null>;
  all(): Promise<Made[]>;
  forget(ids: readonly string[]): Promise<void>;
}

const KEPT_MAX = 500;
const ENDED = new Set(['completed', 'failed', 'cancelled', 'ready', 'expired']);
const FILE = /^((?:ren|prp|ast)_[0-9a-z]+)\.jsonl$/;

export function hasEnded({ status }: Pick<Made, 'status'>): boolean {
  return ENDED.has(status);
}

/**
 * `$XDG_STATE_HOME/lipsync/made/<profile and service>`, by default below `~/.local/state`. A key of the environment has
 * a folder of its own.
 */
export function historyFolder(env: Environment, { profile, baseUrl, apiKey }: Connection): string {
  const whose = profile === null ? `${baseUrl}\n${apiKey}` : baseUrl;
  const digest = createHash('sha256').update(whose).digest('hex').slice(0, 12);
  return path.join(
    ownFolder(env, 'XDG_STATE_HOME', path.join('.local', 'state')),
    'made',
    `${profile ?? 'key'}-${digest}`,
  );
}

/**
 * One file for each id, to which news are appended a line at a time. Processes that run at once need no lock: none
 * rewrites what another wrote. Ids begin with their time, so the oldest files are known by their names.
 * @param warn told why something could not be remembered; what was made is not lost with that
 */
export function openHistory(folder: string, warn: (message: string) => void): History {
  const fileOf = (id: string) => path.join(folder, `${id}.jsonl`);

  async function remembering(id: string, write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      warn(`${id} is missing in lipsync list: ${failureOf(error).message}`);
    }
  }

  const history: History = {
    async add(made, inputs) {
      const { id, created_at, status } = made;
      kindOf(id, 'failed');
      const engines = 'engines' in made ? made.engines.map(({ engine }) => engine) : [];
      await remembering(id, async () => {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        await appendFile(fileOf(id), line({ created_at, status, inputs, engines }), { mode: 0o600 });
        await history.forget((await history.ids()).slice(KEPT_MAX));
      });
    },

    async note(id, news) {
      const { status, files } = news;
      if (!ENDED.has(status ?? '') && files === undefined) return;
      await remembering(id, async () => {
        const known = await history.get(id);
        if (known === null || (known.status === status && files === undefined)) return;
        // Without O_CREAT, which would bring back what was forgotten in the meantime.
        const file = await open(fileOf(id), constants.O_WRONLY | constants.O_APPEND).catch(ignoreMissing);
        try {
          await file?.appendFile(line(news));
        } finally {
          await file?.close();
        }
      });
    },

    async ids() {
      const names = (await readdir(folder).catch(ignoreMissing)) ?? [];
      const ids = names.flatMap((name) => FILE.exec(name)?.[1] ?? []);
      const timeOf = (id: string) => id.slice(id.indexOf('_'));
      return ids.sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
    },

    async get(id) {
      const text = await readFile(fileOf(id), 'utf8').catch(ignoreMissing);
      return text === null ? null : madeOf(id, text);
    },

    async all() {
      const found = await Promise.all((await history.ids()).map((id) => history.get(id)));
      return found.filter((made) => made !== null);
    },

    async forget(ids) {
      for (const id of ids) await rm(fileOf(id), { force: true });
    },
  };
  return history;
}

function line(news: object): string {
  return `${JSON.stringify(news)}\n`;
}

function ignoreMissing(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

/** Later lines say what changed. A line that was cut off, by a full disk for instance, says nothing. */
function madeOf(id: string, text: string): Made {
  const made: Made = { id, created_at: '', status: '', inputs: [], engines: [], files: [] };
  for (const news of text.split('\n').map(parsed)) {
    for (const name of ['created_at', 'status'] as const)
      if (typeof news[name] === 'string') made[name] = news[name];
    for (const name of ['inputs', 'engines'] as const) if (isTexts(news[name])) made[name] = news[name];
    if (isTexts(news['files'])) made.files = [...new Set([...made.files, ...news['files']])];
  }
  return made;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
