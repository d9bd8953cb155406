import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { listenOnLoopback } from './listen';

/**
 * Below the ports that systems hand to outgoing connections (Linux from 32768, macOS and IANA from 49152): a server that
 * was killed finds its port again, where a higher one may meanwhile be some connection's own end.
 */
const LOWEST = 10_240;
const EPHEMERAL = 32_768;
const MAX_TRIES = 1_000;

/**
 * Loopback ports that were free a moment ago, no two the same: all are held at once. Whoever takes one must cope with
 * losing the race for it.
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
