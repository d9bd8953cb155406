import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Engine, LipSync, RenderRecord } from '@lipsync/client';
import { CommandError } from '../failures/exit-codes';
import type { Session } from '../session/session';

export interface ResultOptions {
  /** A folder, or the name of the file; else the working directory. */
  out?: string | undefined;
  /** Replace files that exist. */
  force?: boolean | undefined;
}

/** A service could give an engine a name that leads to another folder. */
const ENGINE_NAME = /^\w{1,64}$/;

/** Where the result of an engine goes. */
export interface PlannedFile {
  engine: Engine;
  path: string;
}

export interface SavedFile extends PlannedFile {
  sha256: string;
}

/**
 * Where the result of each engine goes: `<name>.<engine>.mp4` in a folder, or the named file. With several engines, each
 * gets its name before the file's extension.
 * @throws CommandError when a file exists that may not be replaced, so that nothing is rendered in vain; when an engine's
 * name cannot be part of a file's
 */
export function planResults(
  engines: readonly Engine[],
  name: string,
  { out = '.', force = false }: ResultOptions,
): PlannedFile[] {
  const unsafe = engines.find((engine) => !ENGINE_NAME.test(engine));
  if (unsafe !== undefined)
    throw new CommandError(
      `The service named an engine that cannot be part of a file name: ${unsafe}`,
      'failed',
    );
  const isFolder = /[/\\]$/.test(out) || statSync(out, { throwIfNoEntry: false })?.isDirectory() === true;
  const planned = engines.map((engine) => {
    if (isFolder) return { engine, path: path.join(out, `${name}.${engine}.mp4`) };
    if (engines.length === 1) return { engine, path: out };
    const { dir, name: stem, ext } = path.parse(out);
    return { engine, path: path.join(dir, `${stem}.${engine}${ext}`) };
  });
  const taken = planned.find((file) => existsSync(file.path));
  if (taken !== undefined && !force)
    throw new CommandError(
      `${taken.path} already exists.`,
      'usage',
      'Choose another place with --out, or replace it with --force.',
    );
  return planned;
}

/** Downloads what the engines of a render made. A file appears when it is complete. */
export async function saveResults(
  record: RenderRecord,
  planned: readonly PlannedFile[],
  client: LipSync,
  session: Session,
): Promise<SavedFile[]> {
  const made = planned.filter(({ engine }) =>
    record.engines.some((result) => result.engine === engine && result.output !== undefined),
  );
  const view = await session.progress();
  const saved: SavedFile[] = [];
  const lines = made.map(({ path: file }) => ({
    label: path.basename(file),
    percent: 0,
    detail: 'downloading',
  }));
  try {
    for (const [i, { engine, path: file }] of made.entries()) {
      await mkdir(path.dirname(file), { recursive: true });
      await client.outputs.download(record, engine, file, {
        signal: session.interrupted,
        onProgress(received, total) {
          const percent = total > 0 ? (100 * received) / total : 0;
          lines[i] = { label: path.basename(file), percent, detail: percent < 100 ? 'downloading' : 'saved' };
          view.show(lines);
        },
      });
      saved.push({ engine, path: file, sha256: await sha256Of(file) });
    }
  } finally {
    view.end();
  }
  return saved;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}
