import { type Binaries } from './binaries';
import { openBytePipe } from './byte-pipe';
import { type ChildExit, type ChildOptions } from './media-child';
import { startPipedChild } from './piped-child';

/**
 * Runs a tool whose output goes to `target`, so that large outputs leave nothing for the garbage collector. A child
 * that writes more than fits is stopped. Resolves to the number of bytes written.
 */
export async function runInto(
  binaries: Binaries,
  command: readonly [string, ...string[]],
  options: ChildOptions,
  target: Uint8Array,
): Promise<{ exit: ChildExit; bytes: number }> {
  let bytes = 0;
  let overflow: () => void = () => undefined;
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const pipe = await openBytePipe({
    accept: (chunk) => {
      if (bytes + chunk.length > target.length) {
        overflow();
        return;
      }
      target.set(chunk, bytes);
      bytes += chunk.length;
    },
    end: () => end(),
  });
  const child = startPipedChild(binaries, command, options, pipe);
  overflow = () => child.kill();
  child.stdin.end();
  pipe.resume();
  await ended;
  return { exit: await child.exit, bytes };
}
