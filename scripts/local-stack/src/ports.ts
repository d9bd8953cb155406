import { once } from 'node:events';
import { createServer } from 'node:net';
import { freePorts } from '@lipsync/testkit';

/** The same ports, except that those now used by another process are replaced. */
export async function replaceTaken<Name extends string>(
  ports: Readonly<Record<Name, number>>,
  names: readonly NoInfer<Name>[],
): Promise<Record<Name, number>> {
  const others = await freePorts(names.length);
  const kept: Record<Name, number> = { ...ports };
  for (const [i, name] of names.entries()) if (!(await isFree(ports[name]))) kept[name] = others[i] ?? 0;
  return kept;
}

/** Checks loopback, and all addresses as the API listens: not every system reports a conflict between the two. */
async function isFree(port: number): Promise<boolean> {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port));
}

async function canListen(port: number, host?: string): Promise<boolean> {
  const probe = createServer();
  const listening = once(probe, 'listening');
  probe.listen(port, host);
  try {
    await listening;
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
}
