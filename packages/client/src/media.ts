import { type Bytes, type Platform } from './platform';
import { type AssetInput, type MediaType, type UrlInput } from './resources';

/** Bytes of a known number and type that can be read once. */
export interface StreamSource {
  stream: ReadableStream<Uint8Array>;
  /** Bytes. */
  size: number;
  contentType: string;
}

/** What can be uploaded: a path or `file:` URL (Node, Bun, Deno), a File or Blob, a stream. */
export type UploadSource = string | URL | Blob | StreamSource;

/** What a render or preparation can be made of: media to upload, an https URL, an asset or its id. */
export type MediaInput = UploadSource | AssetInput | UrlInput;

/** Prefix and ULID. A file of such a name is reached as `./ast_…`. */
const ASSET_ID = /^ast_[0-9a-z]{26}$/;
/** Not `c:`, which begins a path of Windows. */
const ADDRESS = /^[a-z][a-z\d+.-]+:\/\//i;

/** The input as the contract has it, or null if its bytes have to be uploaded first. */
export function asContractInput(input: MediaInput): AssetInput | UrlInput | null {
  if (input instanceof URL) return input.protocol === 'file:' ? null : { url: input.href };
  if (typeof input !== 'string') return 'asset_id' in input || 'url' in input ? input : null;
  if (ASSET_ID.test(input)) return { asset_id: input };
  // Also http: and others, which the service refuses in its own words.
  return ADDRESS.test(input) ? { url: input } : null;
}

export function openSource(source: UploadSource, platform: Platform): Promise<Bytes> | Bytes {
  if (typeof source === 'string' || source instanceof URL) return platform.openFile(source);
  if (!('contentType' in source)) return source;
  const { stream, size, contentType: type } = source;
  return { size, type, isRepeatable: false, stream: () => stream, slice: () => new Blob([]) };
}

/** What uploads may declare. */
export const CONTENT_TYPES: Readonly<globalThis.Record<MediaType, readonly string[]>> = {
  video: ['video/mp4', 'video/quicktime', 'video/webm', 'video/x-matroska'],
  audio: [
    'audio/mpeg',
    'audio/wav',
    'audio/x-wav',
    'audio/wave',
    'audio/mp4',
    'audio/x-m4a',
    'audio/aac',
    'audio/ogg',
    'audio/flac',
    'audio/webm',
  ],
};

/**
 * What uploads declare, by the extension of files. The service goes by the bytes alone, so that files whose own type it
 * does not list are declared as something else.
 */
export const CONTENT_TYPE_BY_EXTENSION: Readonly<
  globalThis.Record<MediaType, Readonly<globalThis.Record<string, string>>>
> = {
  video: {
    mp4: 'video/mp4',
    m4v: 'video/mp4',
    mov: 'video/quicktime',
    webm: 'video/webm',
    mkv: 'video/x-matroska',
    ts: 'video/mp4',
    mts: 'video/mp4',
    m2ts: 'video/mp4',
    m2t: 'video/mp4',
  },
  audio: {
    mp3: 'audio/mpeg',
    wav: 'audio/wav',
    m4a: 'audio/mp4',
    mp4: 'audio/mp4',
    aac: 'audio/aac',
    ogg: 'audio/ogg',
    oga: 'audio/ogg',
    opus: 'audio/ogg',
    flac: 'audio/flac',
    webm: 'audio/webm',
    mka: 'audio/webm',
    mp2: 'audio/mpeg',
    aiff: 'audio/wav',
    aif: 'audio/wav',
    aifc: 'audio/wav',
    ac3: 'audio/mp4',
    eac3: 'audio/mp4',
    ec3: 'audio/mp4',
    wma: 'audio/mp4',
    mov: 'audio/mp4',
    mkv: 'audio/webm',
    ts: 'audio/mp4',
    mts: 'audio/mp4',
    m2ts: 'audio/mp4',
    m2t: 'audio/mp4',
  },
};

/** How files begin, as hexadecimal digits, and the extension of their kind. MPEG-TS is known by two of its packets. */
const BEGINNINGS: readonly (readonly [RegExp, string])[] = [
  [/^.{8}6674797071742020/, 'mov'],
  [/^.{8}66747970/, 'mp4'],
  [/^1a45dfa3/, 'webm'],
  [/^52494646.{8}57415645/, 'wav'],
  [/^664c6143/, 'flac'],
  [/^4f676753/, 'ogg'],
  [/^464f524d.{8}4149464[36]/, 'aiff'],
  [/^0b77/, 'ac3'],
  [/^3026b2758e66cf11/, 'wma'],
  [/^47.{374}47/, 'ts'],
  [/^.{8}47.{382}47/, 'mts'],
  [/^fff[0189]/, 'aac'],
  [/^(494433|ff[ef])/, 'mp3'],
];

const BEGINNING_BYTES = 200;

/**
 * The content type to declare: the one that the caller names, or the Blob if the service knows it, else by the name, else
 * by the first bytes. A type of the other kind is translated: the sound of a film may be uploaded as audio.
 * @throws TypeError if none fits
 */
export async function contentTypeOf(bytes: Bytes, mediaType: MediaType, declared?: string): Promise<string> {
  if (declared !== undefined) return declared;
  const types = CONTENT_TYPE_BY_EXTENSION[mediaType];
  const named = bytes.type.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (CONTENT_TYPES[mediaType].includes(named)) return named;
  const extension = /\.(\w+)$/.exec(bytes.name ?? '')?.[1]?.toLowerCase() ?? '';
  const known = types[named.split('/')[1] ?? ''] ?? types[extension];
  if (known !== undefined) return known;
  const beginning = [...new Uint8Array(await bytes.slice(0, BEGINNING_BYTES).arrayBuffer())]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  const kind = BEGINNINGS.find(([pattern]) => pattern.test(beginning))?.[1] ?? '';
  const found = types[kind];
  if (found !== undefined) return found;
  throw new TypeError(
    `${bytes.name ?? 'The source'} is no ${mediaType} by its type, name or first bytes: ` +
      `pass contentType, or one of ${Object.keys(types).join(', ')}`,
  );
}
