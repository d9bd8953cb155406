import { readFileSync } from 'node:fs';
import { type UploadRequest } from '@lipsync/contract';
import { contentTypeOf } from '@lipsync/scripts';

/** A file to upload, held in memory so that uploads under load do not wait for this machine's disk. */
export interface MediaFile {
  readonly bytes: Buffer;
  readonly request: UploadRequest;
}

export function readMediaFile(file: string, mediaType: 'video' | 'audio'): MediaFile {
  const bytes = readFileSync(file);
  return {
    bytes,
    request: {
      media_type: mediaType,
      content_type: contentTypeOf(file, mediaType),
      size_bytes: bytes.length,
    },
  };
}
