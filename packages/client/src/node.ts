import { createReadStream } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import process from 'node:process';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { type Platform } from './platform';

/** Node, Bun and Deno: media are files too. */
export const nodePlatform: Platform = {
  environment: (name) => process.env[name],

  async openFile(pathOrUrl) {
    const path = pathOf(pathOrUrl);
    const { size } = await stat(path);
    return {
      size,
      type: '',
      name: basename(path),
      stream: () => Readable.toWeb(createReadStream(path)) as ReadableStream<Uint8Array>,
      slice: (start, end) => ({ arrayBuffer: () => readPart(path, start, end) }),
    };
  },

  async writeFile(pathOrUrl) {
    const path = pathOf(pathOrUrl);
    const part = `${path}.${crypto.randomUUID()}.part`;
    const file = await open(part, 'wx');
    return {
      async write(chunk) {
        for (let written = 0; written < chunk.length;)
          written += (await file.write(chunk, written)).bytesWritten;
      },
      async close() {
        await file.close();
        await rename(part, path).catch(async (error: unknown) => {
          await rm(part, { force: true });
          throw error;
        });
      },
      async discard() {
        await file.close();
        await rm(part, { force: true });
      },
    };
  },

  async put({ url, headers, bytes, onSent, onUnobserved, signal, fetch }) {
    // Deno forgets the length of a stream, which the URL is signed for, so the bytes (256 MiB at most) are read first.
    const isStreamed = !('Deno' in globalThis);
    if (!isStreamed) onUnobserved();
    const body = isStreamed ? counted(bytes.stream(), onSent) : await new Response(bytes.stream()).blob();
    // A stream can be sent only "half duplex": the answer is read when all is sent.
    const response = await fetch(url, {
      method: 'PUT',
      headers,
      body,
      duplex: 'half',
      signal,
      redirect: 'manual',
    });
    if (!isStreamed) onSent(bytes.size);
    return response;
  },
};

function counted(
  stream: ReadableStream<Uint8Array>,
  onSent: (sentBytes: number) => void,
): ReadableStream<Uint8Array> {
  let sent = 0;
  return stream.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        controller.enqueue(chunk);
        onSent((sent += chunk.length));
      },
    }),
  );
}

function pathOf(pathOrUrl: string | URL): string {
  return pathOrUrl instanceof URL ? fileURLToPath(pathOrUrl) : pathOrUrl;
}

async function readPart(path: string, start: number, end: number): Promise<ArrayBuffer> {
  const file = await open(path);
  try {
    const buffer = new ArrayBuffer(end - start);
    const { bytesRead } = await file.read(new Uint8Array(buffer), 0, end - start, start);
    return buffer.slice(0, bytesRead);
  } finally {
    await file.close();
  }
}
