import { type Binaries } from './binaries';
import { type ChildExit, type ChildOptions, startChild } from './media-child';

/** Runs a tool and collects its output; a child that writes more than `maxBytes` is stopped. */
export async function runToEnd(
  binaries: Binaries,
  command: readonly [string, ...string[]],
  options: ChildOptions,
  maxBytes: number,
): Promise<{ exit: ChildExit; stdout: Buffer }> {
  const child = startChild(binaries, command, options);
  child.stdin.end();
  const chunks: Buffer[] = [];
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) child.kill();
    else chunks.push(chunk);
  });
  const ended = new Promise<void>((resolve) => child.stdout.once('close', resolve));
  const exit = await child.exit;
  if (exit.ended !== 'not_started') await ended;
  return { exit, stdout: Buffer.concat(chunks) };
}
