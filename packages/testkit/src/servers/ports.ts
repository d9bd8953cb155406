import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/**
 * Below the ephemeral ports (Linux from 32768, macOS and IANA from 49152), so that a server that was killed finds its
 * port free again. A higher port may meanwhile belong to an outgoing connection.
 */
const LOWEST = 10_240;
const EPHEMERAL = 32_768;
const MAX_TRIES = 1_000;

/**
 * Distinct loopback ports that were free a moment ago; all are held at the same time. Callers must handle losing the
 * race for a port.
 */
export async function freePorts(count: number): Promise<number[]> {
  const probes: Server[] = [];
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    const probe = createServer();
    try {
      ports.push(await listenOnLoopback(probe, randomInt(LOWEST, EPHEMERAL)));
      probes.push(probe);
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
    }
  }
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no port is free');
  return port;
}

/** Listens on loopback, by default on a free port. Returns the port. */
export async function listenOnLoopback(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => {
      server.removeListener('error', reject);
      resolve();
    });
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('not a TCP server');
  return address.port;
}
