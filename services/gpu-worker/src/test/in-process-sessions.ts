import { type Tensors } from '@lipsync/engines';
import { type LoadedGraph, loadGraph } from '../inference/sessions/ort-sessions';
import { type SessionHost } from '../inference/sessions/session';
import { buffersOf } from '../inference/sessions/session-host';

/**
 * Runs graphs in this process, for tests of sources. Buffers are transferred as they are to the session thread: a fed
 * array is detached after the call.
 */
export function inProcessSessions(): SessionHost {
  const opened = new Set<LoadedGraph>();
  return {
    async open(file, options = {}) {
      const graph = await loadGraph(file, options);
      opened.add(graph);
      return {
        inputs: graph.inputs,
        outputs: graph.outputs,
        async run(feeds) {
          const moved: Tensors = structuredClone(feeds, { transfer: buffersOf(feeds) });
          return { outputs: await graph.run(moved), feeds: moved };
        },
        release: async () => {
          opened.delete(graph);
          await graph.release();
        },
      };
    },
    async close() {
      for (const graph of opened) await graph.release();
    },
  };
}
