import { type MessagePort, parentPort } from 'node:worker_threads';
import { saysOutOfMemory } from '../../protocol/memory';
import { type LoadedGraph, loadGraph } from './ort-sessions';
import { SessionError } from './session';
import { buffersOf, type SessionReply, type SessionRequest } from './session-host';

/**
 * Entry point of the one thread that runs graphs. It does nothing else, so that a second batch can wait in the port
 * while the first one runs. The thread is never terminated from outside (that aborts the whole process during a run):
 * it ends when it is told to close.
 */
function serve(port: MessagePort): void {
  const graphs = new Map<number, LoadedGraph>();
  let previous = Promise.resolve();
  port.on('message', (request: SessionRequest) => {
    previous = previous.then(() => answer(port, graphs, request));
  });
}

async function answer(
  port: MessagePort,
  graphs: Map<number, LoadedGraph>,
  request: SessionRequest,
): Promise<void> {
  try {
    switch (request.type) {
      case 'open': {
        const graph = await loadGraph(request.file, request.options);
        graphs.set(request.session, graph);
        reply(port, { id: request.id, type: 'opened', inputs: graph.inputs, outputs: graph.outputs });
        return;
      }
      case 'run': {
        const started = performance.now();
        const outputs = await graphOf(graphs, request.session).run(request.feeds, request.targets);
        const ms = performance.now() - started;
        const { feeds } = request;
        reply(port, { id: request.id, type: 'ran', outputs, feeds, ms }, buffersOf(outputs, feeds));
        return;
      }
      case 'release': {
        await graphOf(graphs, request.session).release();
        graphs.delete(request.session);
        reply(port, { id: request.id, type: 'released' });
        return;
      }
      case 'close': {
        for (const graph of graphs.values()) await graph.release();
        reply(port, { id: request.id, type: 'closed' });
        port.close();
        return;
      }
    }
  } catch (error) {
    const { feeds, targets } = request.type === 'run' ? request : {};
    const moved = { ...(feeds && { feeds }), ...(targets && { targets }) };
    reply(port, { ...failure(request, error), ...moved }, buffersOf(feeds ?? {}, targets ?? {}));
  }
}

function graphOf(graphs: Map<number, LoadedGraph>, session: number): LoadedGraph {
  const graph = graphs.get(session);
  if (!graph) throw new SessionError('closed', 'the session was released');
  return graph;
}

function failure({ id }: SessionRequest, error: unknown): SessionReply & { type: 'failed' } {
  if (error instanceof SessionError) {
    return { id, type: 'failed', reason: error.reason, message: error.message };
  }
  const message = error instanceof Error ? error.message : String(error);
  const reason = saysOutOfMemory(message) ? 'out_of_memory' : 'run_failed';
  return { id, type: 'failed', reason, message };
}

function reply(port: MessagePort, message: SessionReply, transfer: ArrayBuffer[] = []): void {
  port.postMessage(message, transfer);
}

if (!parentPort) throw new Error('this file is the entry of a worker thread');
serve(parentPort);
