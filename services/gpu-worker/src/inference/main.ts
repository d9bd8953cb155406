import { resolveBinaries } from '@lipsync/media';
import { type FromInference } from '../protocol/messages';
import { inferenceSettings } from './inference-settings';
import { createModels } from './models';
import { createSessionHost, type TimedSessionHost } from './sessions/session-host';
import { createTaskLoop } from './task-loop';
import { createTaskRunner } from './task-runner';

/**
 * Entry point of the inference process: one per slot, started without any credentials, killable at any time. This
 * thread runs the pipes and the pixel kernels; the session threads run the graphs.
 */
function main(): void {
  if (!process.send) throw new Error('this program is started by the gpu-worker, not by hand');
  const send = (message: FromInference): void => {
    process.send?.(message);
  };
  // Nothing can be served without such a thread: exit, and the supervisor starts another process.
  const startSessions = (): TimedSessionHost =>
    createSessionHost(undefined, (reason) => {
      process.stderr.write(`${reason}\n`);
      process.exit(1);
    });
  const hosts = { analyzer: startSessions(), engines: startSessions() };
  const settings = inferenceSettings(process.env);
  const binaries = resolveBinaries(process.env, settings.processes);
  // The first task that needs the binaries reports why they are missing.
  binaries.catch(() => undefined);
  const perform = createTaskRunner({
    hosts,
    models: createModels(hosts, settings),
    binaries,
    graphs: settings.graphs,
  });
  process.on('message', createTaskLoop(perform, send));
  // The supervisor is gone: nobody wants the result, and an orderly exit would have to wait for a running graph.
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  send({ type: 'ready' });
}

main();
