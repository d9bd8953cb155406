import { type Readable } from 'node:stream';

const KEPT_CHARACTERS = 4_000;

/** Reads a stream to its end and keeps only its last characters, so that a chatty child costs no memory. */
export function keepTail(stream: Readable): () => string {
  let tail = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    tail = (tail + text).slice(-KEPT_CHARACTERS);
  });
  return () => tail.trim();
}
