import { connect } from 'node:net';

/** The fields of a Redis server's INFO reply. Uses a plain socket: one command needs no client library. */
export function redisInfo(url: string): Promise<ReadonlyMap<string, string>> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port || 6379), hostname, () => socket.write('INFO\r\n'));
    let answer = '';
    socket.setEncoding('latin1');
    socket.setTimeout(5_000, () => socket.destroy(new Error('Redis does not answer INFO')));
    socket.on('error', reject);
    socket.on('close', () => reject(new Error('Redis closed the connection')));
    socket.on('data', (chunk: string) => {
      answer += chunk;
      const fields = parseInfo(answer);
      if (fields === null) return;
      resolve(fields);
      socket.destroy();
    });
  });
}

/** The fields of an INFO reply; null while it is incomplete. */
export function parseInfo(answer: string): Map<string, string> | null {
  const head = answer.indexOf('\r\n');
  if (head < 0) return null;
  if (!answer.startsWith('$')) throw new Error(`Redis refuses INFO: ${answer.slice(0, head)}`);
  const length = Number(answer.slice(1, head));
  const body = answer.slice(head + 2, head + 2 + length);
  if (body.length < length) return null;
  return new Map(
    body
      .split('\r\n')
      .filter((line) => line.includes(':'))
      .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]),
  );
}
