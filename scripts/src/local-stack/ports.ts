import { createServer } from 'node:net';
import { freePorts, listenOnLoopback } from '@lipsync/testkit';

/** The same ports, with others in place of those that somebody else listens on by now. */
export async function replaceTaken<Name extends string>(
  ports: Readonly<Record<Name, number>>,
  names: readonly NoInfer<Name>[],
): Promise<Record<Name, number>> {
  const others = await freePorts(names.length);
  const kept: Record<Name, number> = { ...ports };
  for (const [i, name] of names.entries()) if (!(await isFree(ports[name]))) kept[name] = others[i] ?? 0;
  return kept;
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  try {
    await listenOnLoopback(probe, port);
    return true;
  } catch {
    return false;
  } finally {
    await new Promise((resolve) => probe.close(resolve));
  }
}
