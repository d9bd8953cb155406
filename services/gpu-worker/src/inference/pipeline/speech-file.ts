import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from 'node:fs';
import { type Recording, recordingFrom } from '@lipsync/lipsync';

/** Speech in a file, so that its samples take no memory: an engine reads half a minute at a time. */
export interface SpeechFile {
  /** Descriptor of the open file, for writing the samples: mono float32 in the machine's byte order. */
  readonly descriptor: number;
  /** The recording written so far; readable until the file is closed. */
  recording(): Recording;
  close(): void;
}

const SAMPLE_BYTES = Float32Array.BYTES_PER_ELEMENT;

/** An empty, unnamed file beside `path`: it disappears when it is closed, or with this process. */
export function openSpeechFile(path: string): SpeechFile {
  const name = `${path}.${randomUUID()}.speech`;
  const descriptor = openSync(name, 'wx+', 0o600);
  unlinkSync(name);
  let closed = false;

  return {
    descriptor,
    recording() {
      const length = Math.floor(fstatSync(descriptor).size / SAMPLE_BYTES);
      return recordingFrom(length, (from, target) => {
        // The descriptor of a closed file may already belong to another file.
        if (closed) throw new Error('the speech was closed');
        const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength);
        readWhole(descriptor, bytes, from * SAMPLE_BYTES);
      });
    },
    close() {
      if (!closed) closeSync(descriptor);
      closed = true;
    },
  };
}

function readWhole(descriptor: number, target: Uint8Array, position: number): void {
  for (let done = 0; done < target.length;) {
    const read = readSync(descriptor, target, done, target.length - done, position + done);
    if (read === 0) throw new Error('the speech has become shorter');
    done += read;
  }
}
