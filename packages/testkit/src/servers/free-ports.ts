import { createServer } from 'node:net';
import { listenOnLoopback } from './listen';

/**
 * Loopback ports that were free a moment ago, no two the same: all are held at once. Whoever takes one must cope with
 * losing the race for it.
 */
export async function freePorts(count: number): Promise<number[]> {
  const probes = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(probes.map((probe) => listenOnLoopback(probe)));
  await Promise.all(probes.map((probe) => new Promise((resolve) => probe.close(resolve))));
  return ports;
}

export async function freePort(): Promise<number> {
  const [port] = await freePorts(1);
  if (port === undefined) throw new Error('no port is free');
  return port;
}
