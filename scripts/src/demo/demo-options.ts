import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Engine, SyncMode } from '@lipsync/contract';
import type { RenderFilesRequest } from './render-files';

export interface DemoOptions {
  video: string;
  audio: string;
  engines: Engine[];
  syncMode: SyncMode;
  out: string;
  json?: boolean;
  keep?: boolean;
  root: string;
  target?: string;
  key?: string;
}

/** What is to be rendered; throws when a file is not there. */
export function requestOf(options: DemoOptions): RenderFilesRequest {
  for (const file of [options.video, options.audio])
    if (!existsSync(file)) throw new Error(`${file} is not there`);
  const outFile = path.resolve(options.out);
  mkdirSync(path.dirname(outFile), { recursive: true });
  const { video: videoFile, audio: audioFile, engines, syncMode } = options;
  return { videoFile, audioFile, engines, syncMode, outFile };
}
