import { type IncomingMessage, type ServerResponse } from 'node:http';
import { ServiceError } from '@lipsync/domain';

/** A client that keeps sending a refused body is disconnected after this many bytes. */
const DISCARD_MAX_BYTES = 1_048_576;

/** The caller hung up before the request was complete, so there is nobody to answer. */
export class ClientGone extends Error {
  override readonly name = 'ClientGone';

  constructor() {
    super('The client closed the connection before the request was complete');
  }
}

/**
 * Reads the request's body, at most `maxBytes`. A larger one is refused by its Content-Length before a byte is read, or
 * while streaming when it declares no length.
 *
 * @throws ServiceError body_too_large
 * @throws ClientGone when the connection closes first
 */
export async function readBody(req: IncomingMessage, res: ServerResponse, maxBytes: number): Promise<Buffer> {
  // The client hung up before any listener was attached, so none of the events below would ever fire.
  if (req.destroyed) throw new ClientGone();
  if (Number(req.headers['content-length'] ?? 0) > maxBytes) {
    discard(req);
    throw new ServiceError('body_too_large');
  }
  if (req.headers.expect?.toLowerCase() === '100-continue') res.writeContinue();

  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const onData = (chunk: Buffer): void => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) {
        settle();
        discard(req);
        reject(new ServiceError('body_too_large'));
      }
    };
    const onEnd = (): void => {
      settle();
      resolve(Buffer.concat(chunks));
    };
    const onClose = (): void => {
      settle();
      reject(new ClientGone());
    };
    const settle = (): void => {
      req.off('data', onData).off('end', onEnd).off('close', onClose);
    };
    // A reset emits 'error' and then 'close'; 'error' needs a listener for as long as the request lives.
    req.on('error', () => undefined);
    req.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

/**
 * Reads and discards the rest of a refused body, within a limit. Closing the socket with unread bytes would reset the
 * connection, and the client would see the reset instead of the response.
 */
function discard(req: IncomingMessage): void {
  let size = 0;
  req.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > DISCARD_MAX_BYTES) req.socket.destroy();
  });
}
