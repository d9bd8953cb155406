import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Engine, RecordResource, SyncMode } from '@lipsync/contract';
import { download, type ApiClient } from './api-client';
import { contentTypeOf } from './content-type';
import type { ShowProgress } from './progress-line';
import type { EventReceiver, ReceivedEvent } from './event-receiver';

export interface RenderFilesRequest {
  videoFile: string;
  audioFile: string;
  engines: Engine[];
  syncMode: SyncMode;
  /** One engine's result goes here; several get the engine's name before the extension. */
  outFile: string;
}

export interface RenderedFile {
  engine: string;
  file: string;
  sha256: string;
}

export interface RenderFilesResult {
  record: RecordResource;
  event: ReceivedEvent;
  files: RenderedFile[];
}

const POLL_MS = 500;
/** How long the API may be away, for a restart, before the demo gives up. */
const API_ABSENCE_MS = 120_000;

/** The typical flow of the interface: upload, render, be told by webhook, fetch, download. */
export async function renderFiles(
  request: RenderFilesRequest,
  { api, receiver, show }: { api: ApiClient; receiver: EventReceiver; show: ShowProgress },
): Promise<RenderFilesResult> {
  const [video, audio] = await Promise.all([
    api.upload(request.videoFile, 'video', contentTypeOf(request.videoFile, 'video')),
    api.upload(request.audioFile, 'audio', contentTypeOf(request.audioFile, 'audio')),
  ]);
  const created = await api.createRender({
    video: { asset_id: video.id },
    audio: { asset_id: audio.id },
    engines: request.engines,
    sync_mode: request.syncMode,
    webhook_url: receiver.url,
  });
  await pollUntilTerminal(api, created.id, show);
  const event = await receiver.eventFor(created.id);
  const record = await api.getRender(created.id);
  return { record, event, files: await downloadOutputs(record, request) };
}

async function pollUntilTerminal(api: ApiClient, id: string, show: ShowProgress): Promise<void> {
  let answeredAt = performance.now();
  for (;;) {
    const record = await api.getRender(id).catch((error: unknown) => {
      // The API may be restarting: a failed poll is not a failed render.
      if (performance.now() - answeredAt > API_ABSENCE_MS) throw error;
      return null;
    });
    if (record !== null) {
      answeredAt = performance.now();
      show(record);
      if (['completed', 'failed', 'cancelled'].includes(record.status)) return;
    }
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
      const file = engines.length === 1 ? outFile : outFile.replace(/(\.[^.]*)?$/, `.${engine}$1`);
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
