import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type Engine, type RecordResource, type SyncMode } from '@lipsync/contract';
import { RECORD_STATES } from '@lipsync/domain';
import { type ApiClient, download, persist } from './api-client';
import { type EventReceiver, type ReceivedEvent } from './event-receiver';

/** Shows a render's progress to a person. */
export type ShowProgress = (record: RecordResource) => void;

export interface MediaFile {
  file: string;
  mediaType: 'video' | 'audio';
  contentType: string;
}

export interface RenderFilesRequest {
  video: MediaFile;
  audio: MediaFile;
  engines: Engine[];
  syncMode: SyncMode;
  /** Path of the output; with several engines, each output gets the engine's name before the extension. */
  outFile: string;
}

interface RenderedFile {
  engine: string;
  file: string;
  sha256: string;
}

export interface RenderFilesResult {
  record: RecordResource;
  /** Undefined when no webhook was requested. */
  event?: ReceivedEvent;
  files: RenderedFile[];
}

const POLL_MS = 500;

/**
 * The typical use of the API: upload, render, wait for the webhook (if there is a receiver), fetch, download. Survives
 * a restart of the API.
 */
export async function renderFiles(
  request: RenderFilesRequest,
  { api, receiver, show }: { api: ApiClient; receiver?: EventReceiver; show: ShowProgress },
): Promise<RenderFilesResult> {
  // Repeating an upload leaves an unused one behind, which expires.
  const upload = ({ file, mediaType, contentType }: MediaFile) =>
    persist(() => api.upload(file, mediaType, contentType));
  const [video, audio] = await Promise.all([upload(request.video), upload(request.audio)]);
  const idempotencyKey = randomUUID();
  const { id } = await persist(() =>
    api.createRender({
      video: { asset_id: video.id },
      audio: { asset_id: audio.id },
      engines: request.engines,
      sync_mode: request.syncMode,
      ...(receiver === undefined ? {} : { webhook_url: receiver.url }),
      idempotency_key: idempotencyKey,
    }),
  );
  await pollUntilTerminal(api, id, show);
  const event = await receiver?.eventFor(id);
  const record = await persist(() => api.getRender(id));
  const files = await downloadOutputs(record, request);
  return event === undefined ? { record, files } : { record, event, files };
}

async function pollUntilTerminal(api: ApiClient, id: string, show: ShowProgress): Promise<void> {
  for (;;) {
    const record = await persist(() => api.getRender(id));
    show(record);
    if (RECORD_STATES.isTerminal(record.status)) return;
    await delay(POLL_MS);
  }
}

async function downloadOutputs(
  { engines = [] }: RecordResource,
  { outFile }: RenderFilesRequest,
): Promise<RenderedFile[]> {
  const finished = engines.flatMap(({ engine, output }) =>
    output === undefined ? [] : [{ engine, url: output.url }],
  );
  return Promise.all(
    finished.map(async ({ engine, url }) => {
      const file = engines.length === 1 ? outFile : withEngine(outFile, engine);
      await download(url, file);
      return {
        engine,
        file,
        sha256: createHash('sha256')
          .update(await readFile(file))
          .digest('hex'),
      };
    }),
  );
}

/** `result.mp4` becomes `result.musetalk.mp4`. */
function withEngine(file: string, engine: string): string {
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${engine}${ext}`);
}

const BY_EXTENSION: Record<'video' | 'audio', Record<string, string>> = {
  video: {
    '.mp4': 'video/mp4',
    '.m4v': 'video/mp4',
    '.mov': 'video/quicktime',
    '.webm': 'video/webm',
    '.mkv': 'video/x-matroska',
  },
  audio: {
    '.mp3': 'audio/mpeg',
    '.wav': 'audio/wav',
    '.m4a': 'audio/mp4',
    '.mp4': 'audio/mp4',
    '.aac': 'audio/aac',
    '.ogg': 'audio/ogg',
    '.flac': 'audio/flac',
    '.webm': 'audio/webm',
  },
};

/** The declared type for an upload; the service's probe determines what the bytes really are. */
export function contentTypeOf(file: string, mediaType: 'video' | 'audio'): string {
  const types = BY_EXTENSION[mediaType];
  const type = types[path.extname(file).toLowerCase()];
  if (type === undefined)
    throw new Error(`${file}: the ${mediaType} must be one of ${Object.keys(types).join(' ')}`);
  return type;
}
