import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { type Engine, type LipSync, type RenderRecord, type SyncMode } from '@lipsync/client';
import { type EventReceiver, type ReceivedEvent } from './event-receiver';

/** Shows a render's progress to a person. */
export type ShowProgress = (record: RenderRecord) => void;

export interface RenderFilesRequest {
  /** Paths of the media. */
  video: string;
  audio: string;
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
  record: RenderRecord;
  /** Undefined when no webhook was requested. */
  event?: ReceivedEvent;
  files: RenderedFile[];
}

const POLL_MS = 500;

/** The typical use of the API: upload, render, wait for the webhook (if there is a receiver), fetch, download. */
export async function renderFiles(
  { video, audio, engines, syncMode, outFile }: RenderFilesRequest,
  { api, receiver, show }: { api: LipSync; receiver?: EventReceiver; show: ShowProgress },
): Promise<RenderFilesResult> {
  const { id } = await api.renders.create({
    video,
    audio,
    engines,
    sync_mode: syncMode,
    ...(receiver === undefined ? {} : { webhook_url: receiver.url }),
  });
  for await (const state of api.renders.watch(id, { pollIntervalMs: POLL_MS })) show(state);
  const event = await receiver?.eventFor(id);
  const record = await api.renders.get(id);
  const finished = record.engines.filter(({ output }) => output !== undefined);
  const files = await Promise.all(
    finished.map(async ({ engine }) => {
      const file = record.engines.length === 1 ? outFile : withEngine(outFile, engine);
      await api.outputs.download(record, engine, file);
      const sha256 = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      return { engine, file, sha256 };
    }),
  );
  return event === undefined ? { record, files } : { record, event, files };
}

/** `result.mp4` becomes `result.musetalk.mp4`. */
function withEngine(file: string, engine: string): string {
  const { dir, name, ext } = path.parse(file);
  return path.join(dir, `${name}.${engine}${ext}`);
}
