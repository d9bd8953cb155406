import { type Binaries } from './binaries';
import { type BytePipe } from './byte-pipe';
import { type ChildOptions, type MediaChild, startChild } from './media-child';

/** Starts a tool whose output goes into a pipe. The pipe is destroyed when the tool cannot be started at all. */
export function startPipedChild(
  binaries: Binaries,
  command: readonly [string, ...string[]],
  options: ChildOptions,
  pipe: BytePipe,
): MediaChild {
  try {
    return startChild(binaries, command, { ...options, stdout: pipe.childEnd });
  } catch (error) {
    // For example, there is no memory for another process: no child exists whose end would report this.
    pipe.childEnd.destroy();
    pipe.destroy();
    throw error;
  }
}
