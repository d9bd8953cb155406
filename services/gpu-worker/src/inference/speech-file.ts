import { closeSync, fstatSync, openSync, readSync, unlinkSync } from 'node:fs';
import { type Recording } from '@lipsync/lipsync';

/** Speech in a file, so that memory does not grow with its length: an engine listens to half a minute at a time. */
export interface SpeechFile {
  /** Number of the open file, for who writes the samples: float32 as this machine has them, one channel. */
  readonly descriptor: number;
  /** What was written; readable until the file is closed. */
  recording(): Recording;
  close(): void;
}

const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** An empty file without a name: it is gone when it is closed, or with this process, however that ends. */
export function openSpeechFile(path: string): SpeechFile {
  const descriptor = openSync(path, 'w+');
  unlinkSync(path);
  let closed = false;

  return {
    descriptor,
    recording() {
      const length = Math.floor(fstatSync(descriptor).size / SAMPLE_BYTES);
      return {
        length,
        read(from, to) {
          // The number of a closed file may already be another file's.
          if (closed) throw new Error('the speech was closed');
          const samples = new Float32Array(to - from);
          const first = Math.max(from, 0);
          const heard = samples.subarray(first - from, Math.max(first, Math.min(to, length)) - from);
          readWhole(descriptor, new Uint8Array(heard.buffer, heard.byteOffset, heard.byteLength), first);
          return samples;
        },
      };
    },
    close() {
      if (!closed) closeSync(descriptor);
      closed = true;
    },
  };
}

function readWhole(descriptor: number, target: Uint8Array, firstSample: number): void {
  for (let done = 0; done < target.length;) {
    const read = readSync(descriptor, target, done, target.length - done, firstSample * SAMPLE_BYTES + done);
    if (read === 0) throw new Error('the speech has become shorter');
    done += read;
  }
}
