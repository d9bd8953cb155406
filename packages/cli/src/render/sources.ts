import { stat } from 'node:fs/promises';
import path from 'node:path';
import {
  type AssetInput,
  CONTENT_TYPE_BY_EXTENSION,
  type LipSync,
  type MediaType,
  type UrlInput,
} from '@lipsync/client';
import { CommandError } from '../failures/exit-codes';
import type { Session } from '../session/session';
import type { ProgressLine } from '../terminal/progress';

/** What the user named as media: a file to upload, or what the service can fetch or has already. */
export type Source = FileSource | KnownSource;

interface FileSource {
  mediaType: MediaType;
  file: string;
  bytes: number;
}

interface KnownSource {
  mediaType: MediaType;
  input: AssetInput | UrlInput;
}

/** By contract. */
const MAX_BYTES = 256 * 1024 * 1024;
/** Prefix and ULID; a file of such a name is reached as `./ast_…`. */
const ASSET_ID = /^ast_[0-9a-z]{26}$/;
/** Not `c:`, which begins a path of Windows. */
const ADDRESS = /^[a-z][a-z\d+.-]+:\/\//i;

/** Whether it is the path of a file, and not a URL or the id of an asset. */
export function namesFile(text: string): boolean {
  return !ASSET_ID.test(text) && !ADDRESS.test(text);
}

/**
 * Finds out what was named before anything is sent.
 * @throws CommandError for what cannot be media
 */
export async function sourceOf(text: string, mediaType: MediaType): Promise<Source> {
  if (ASSET_ID.test(text)) return { mediaType, input: { asset_id: text } };
  if (ADDRESS.test(text)) {
    if (URL.canParse(text) && new URL(text).protocol === 'https:') return { mediaType, input: { url: text } };
    throw new CommandError(`${text} is not an https URL.`, 'usage', 'Download it, and pass the file.');
  }
  const found = await stat(text).catch(() => null);
  if (found === null) throw new CommandError(`${text} does not exist.`, 'usage');
  if (!found.isFile()) throw new CommandError(`${text} is not a file.`, 'usage');
  if (found.size === 0) throw new CommandError(`${text} is empty.`, 'usage');
  if (found.size > MAX_BYTES)
    throw new CommandError(
      `${text} is larger than 256 MiB.`,
      'usage',
      'Cut it, or encode it at a lower rate.',
    );
  return { mediaType, file: text, bytes: found.size };
}

/** What results are called after: the name of the file, without its extension. */
export function nameOf(source: Source): string {
  if ('file' in source) return path.parse(source.file).name;
  if ('asset_id' in source.input) return source.input.asset_id;
  const [segment = ''] = new URL(source.input.url).pathname.split('/').slice(-1);
  // Only characters that every file system allows in a name.
  return path.parse(segment.replace(/[^\w.-]+/g, '-')).name || 'render';
}

/** What the user named, as it is remembered: a URL without its query, which may hold a signature. */
export function inputName(source: Source): string {
  if ('file' in source) return path.resolve(source.file);
  if ('asset_id' in source.input) return source.input.asset_id;
  const { origin, pathname } = new URL(source.input.url);
  return `${origin}${pathname}`;
}

/**
 * Uploads whatever is a file, all at once and with a line for each; returns the inputs of a request, in the same order. When one
 * upload fails or the user interrupts, all end.
 */
export async function uploadFiles<Sources extends readonly Source[] | []>(
  sources: Sources,
  client: LipSync,
  session: Session,
): Promise<{ [Index in keyof Sources]: AssetInput | UrlInput }> {
  const view = await session.progress();
  const all: readonly Source[] = sources;
  const uploads = all.filter((source) => 'file' in source);
  const lines = uploads.map((source) => lineOf(source, 0));
  const failed = new AbortController();
  const signal = AbortSignal.any([session.interrupted, failed.signal]);

  async function inputOf(source: Source): Promise<AssetInput | UrlInput> {
    if (!('file' in source)) return source.input;
    const upload = client.uploads.create(source.file, {
      mediaType: source.mediaType,
      signal,
      onProgress: (sent) => {
        lines[uploads.indexOf(source)] = lineOf(source, sent);
        view.show(lines);
      },
    });
    const { id } = await upload.catch((error: unknown) => {
      throw error instanceof TypeError ? unknownKind(source) : error;
    });
    return { asset_id: id };
  }

  try {
    signal.throwIfAborted();
    const inputs = await Promise.all(all.map(inputOf));
    return inputs as { [Index in keyof Sources]: AssetInput | UrlInput };
  } catch (error) {
    failed.abort();
    throw error;
  } finally {
    view.end();
  }
}

/** The client recognizes media by their names and first bytes. */
function unknownKind({ file, mediaType }: FileSource): CommandError {
  return new CommandError(
    `${file} is not recognized as a ${mediaType === 'video' ? 'video' : 'voice'}, by its name or by its first bytes.`,
    'usage',
    `Known extensions: ${Object.keys(CONTENT_TYPE_BY_EXTENSION[mediaType]).join(', ')}.`,
  );
}

function lineOf({ file, bytes }: FileSource, sent: number): ProgressLine {
  const detail = `uploaded ${megabytes(sent)} of ${megabytes(bytes)} MB`;
  return { label: path.basename(file), percent: (100 * sent) / bytes, detail };
}

/** In millions of bytes, as file managers and networks count. */
function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

/** What a file or URL is used as, by its name. */
export function mediaTypeOf(text: string): MediaType {
  const name = ADDRESS.test(text) && URL.canParse(text) ? new URL(text).pathname : text;
  const extension = path.extname(name).slice(1).toLowerCase();
  if (Object.hasOwn(CONTENT_TYPE_BY_EXTENSION.video, extension)) return 'video';
  if (Object.hasOwn(CONTENT_TYPE_BY_EXTENSION.audio, extension)) return 'audio';
  throw new CommandError(
    `The name of ${text} does not say whether it is a video or a voice.`,
    'usage',
    'Set --media-type video or --media-type audio.',
  );
}
