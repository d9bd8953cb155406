import { stat } from 'node:fs/promises';
import path from 'node:path';
import type { Asset, AssetInput, LipSync, MediaType, UrlInput } from '@lipsync/client';
import { CommandError } from './exit-codes';
import type { ProgressLine } from './progress';
import type { Session } from './session';

/** What the user named as media: a file to upload, or what the service can fetch or has already. */
export type Source = FileSource | KnownSource;

export interface FileSource {
  file: string;
  bytes: number;
}

export interface KnownSource {
  input: AssetInput | UrlInput;
}

/** By contract. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Prefix and ULID; a file of such a name is reached as `./ast_…`. */
const ASSET_ID = /^ast_[0-9a-z]{26}$/;
/** Not `c:`, which begins a path of Windows. */
const ADDRESS = /^[a-z][a-z\d+.-]+:\/\//i;

/**
 * Finds out what was named before anything is sent.
 * @throws CommandError for what cannot be media
 */
export async function sourceOf(text: string): Promise<Source> {
  if (ASSET_ID.test(text)) return { input: { asset_id: text } };
  if (ADDRESS.test(text)) {
    if (URL.canParse(text) && new URL(text).protocol === 'https:') return { input: { url: text } };
    throw new CommandError(`${text} is not an https address.`, 'usage', 'Download it, and name the file.');
  }
  const found = await stat(text).catch(() => null);
  if (found === null) throw new CommandError(`${text} does not exist.`, 'usage');
  if (!found.isFile()) throw new CommandError(`${text} is not a file.`, 'usage');
  if (found.size === 0) throw new CommandError(`${text} is empty.`, 'usage');
  if (found.size > MAX_BYTES)
    throw new CommandError(`${text} is larger than 256 MiB.`, 'usage', 'Cut it, or encode it at a lower rate.');
  return { file: text, bytes: found.size };
}

/** What results are called after: the name of the file, without its extension. */
export function nameOf(source: Source): string {
  if ('file' in source) return path.parse(source.file).name;
  if ('asset_id' in source.input) return source.input.asset_id;
  const [segment = ''] = new URL(source.input.url).pathname.split('/').slice(-1);
  // Of an address only what can be part of a file name everywhere.
  return path.parse(segment.replace(/[^\w.-]+/g, '-')).name || 'render';
}

/**
 * Uploads what are files, at once and with a line for each, and returns the inputs of a request. When one upload fails
 * or the user interrupts, all end.
 */
export async function uploadFiles<Name extends MediaType>(
  sources: Readonly<Record<Name, Source>>,
  client: LipSync,
  session: Session,
): Promise<Record<Name, AssetInput | UrlInput>> {
  const names = Object.keys(sources) as Name[];
  const view = await session.progress();
  const lines = new Map<Name, ProgressLine>();
  const ending = new AbortController();
  const onInterrupted = () => ending.abort(session.interrupted.reason);
  session.interrupted.addEventListener('abort', onInterrupted);

  async function inputOf(name: Name): Promise<[Name, AssetInput | UrlInput]> {
    const source = sources[name];
    if (!('file' in source)) return [name, source.input];
    const { id } = await uploadFile(source, name, {
      client,
      signal: ending.signal,
      onProgress: (line) => view.show([...lines.set(name, line).values()]),
    });
    return [name, { asset_id: id }];
  }

  try {
    session.interrupted.throwIfAborted();
    const inputs = await Promise.all(names.map(inputOf));
    return Object.fromEntries(inputs) as Record<Name, AssetInput | UrlInput>;
  } catch (error) {
    ending.abort();
    throw error;
  } finally {
    session.interrupted.removeEventListener('abort', onInterrupted);
    view.end();
  }
}

function uploadFile(
  { file, bytes }: FileSource,
  mediaType: MediaType,
  { client, signal, onProgress }: { client: LipSync; signal: AbortSignal; onProgress: (line: ProgressLine) => void },
): Promise<Asset> {
  const total = megabytes(bytes);
  const label = path.basename(file);
  const show = (sent: number) =>
    onProgress({ label, percent: (100 * sent) / bytes, detail: `uploaded ${megabytes(sent)} of ${total} MB` });
  show(0);
  return client.uploads.create(file, { mediaType, signal, onProgress: show });
}

/** Of a million bytes, as file managers and networks count. */
function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
