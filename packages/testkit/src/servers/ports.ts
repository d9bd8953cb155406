import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/**
 * Below the ephemeral ports (Linux from 32768, macOS and IANA from 49152), so that a server that was killed finds its
 * port free again. A higher port may meanwhile belong to an outgoing connection.
 */
const LOWEST = 10_240;
const EPHEMERAL = 32_768;
const MAX_TRIES = 1_000;

/**
 * Distinct loopback ports on which nothing listens. No other call of this function gets them, in any process, before this
 * one ends: each stays bound for UDP, which hinders no TCP server.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  for (let tries = 0; ports.length < count; tries++) {
    try {
      ports.push(await reserve(randomInt(LOWEST, EPHEMERAL)));
    } catch (error) {
      if (tries === MAX_TRIES) throw error;
    }
  }
  return ports;
}

async function reserve(port: number): Promise<number> {
  const reservation = createSocket('udp4').bind(port, '127.0.0.1');
  const probe = createServer();
  try {
    await once(reservation, 'listening');
    await listenOnLoopback(probe, port);
  } catch (error) {
    reservation.close();
    throw error;
  }
  reservation.unref();
  probe.close();
  await once(probe, 'close');
  return port;
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
