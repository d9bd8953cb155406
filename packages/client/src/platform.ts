import { type Fetch } from './transport';

/** Bytes that are to be sent: a Blob or a file looks like this. */
export interface Bytes {
  readonly size: number;
  /** Content type; empty if unknown. */
  readonly type: string;
  readonly name?: string;
  /** False for a stream, which cannot be sent again. */
  readonly isRepeatable?: boolean;
  stream(): ReadableStream<Uint8Array>;
  slice(start: number, end: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

export interface PutRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  bytes: Bytes;
  onSent: (sentBytes: number) => void;
  /** Called before bytes are sent whose progress nothing reports. */
  onUnobserved: () => void;
  signal: AbortSignal;
  fetch: Fetch;
}

/** Where a download goes. `close` is called once all bytes are there, otherwise `discard`. */
export interface Sink {
  write(chunk: Uint8Array): Promise<void>;
  close(): Promise<void>;
  discard(reason: unknown): Promise<void>;
}

/** What Node, Bun and Deno have and browsers do not, and the other way round. */
export interface Platform {
  readonly environment: (name: string) => string | undefined;
  openFile(path: string | URL): Promise<Bytes>;
  /** A file that appears under its name when it is complete. */
  writeFile(path: string | URL): Promise<Sink>;
  /** Sends bytes with PUT; resolves to the answer, whatever its status. */
  put(request: PutRequest): Promise<Response>;
}
