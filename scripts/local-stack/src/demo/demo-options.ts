import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Engine, SyncMode } from '@lipsync/contract';
import { contentTypeOf } from './content-type';
import type { MediaFile, RenderFilesRequest } from './render-files';

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

/** The render request; throws when a file does not exist or has a type that the service does not accept. */
export function requestOf(options: DemoOptions): RenderFilesRequest {
  const { engines, syncMode } = options;
  const video = mediaFile(options.video, 'video');
  const audio = mediaFile(options.audio, 'audio');
  const outFile = path.resolve(options.out);
  mkdirSync(path.dirname(outFile), { recursive: true });
  return { video, audio, engines, syncMode, outFile };
}

function mediaFile(file: string, mediaType: MediaFile['mediaType']): MediaFile {
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  return { file, mediaType, contentType: contentTypeOf(file, mediaType) };
}
