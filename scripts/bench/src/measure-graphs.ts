import { fork } from 'node:child_process';
import path from 'node:path';
import { type StepTools } from './checklist';
import { type GraphTimes, type GraphTimesMessage } from './graph-times';

/** The compiled process, beside this file. */
const ENTRY = path.join(__dirname, 'graph-times.js');
const COMPLAINTS_MAX_CHARACTERS = 2000;

/**
 * Times the graphs of the pack in a folder, on the provider that its manifest prefers. `found` is called with what is
 * known so far. They run in a process of their own: a run cannot be broken off, nor can a thread that lets go of a card,
 * but their process can be killed. Rejects when a graph cannot be loaded or run, when the process is lost, and at once
 * when `signal` is aborted.
 */
export function measureGraphs(
  dir: string,
  { signal, found, secondsLeft }: StepTools,
  entry = ENTRY,
): Promise<{ readonly graphs: Record<string, GraphTimes> }> {
  const child = fork(entry, [dir, String(secondsLeft())], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  const kill = (): void => void child.kill('SIGKILL');
  signal.addEventListener('abort', kill);
  let complaints = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-COMPLAINTS_MAX_CHARACTERS);
  });
  const graphs: Record<string, GraphTimes> = {};
  return new Promise<{ graphs: typeof graphs }>((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('the time of the graphs is over')));
    child.on('message', (message: GraphTimesMessage) => {
      if (message.type === 'failed') return reject(new Error(message.message));
      if (message.type === 'done') return resolve({ graphs });
      graphs[message.graph] = message.times;
      found({ graphs: { ...graphs } });
    });
    child.on('error', reject);
    child.on('close', (code, killedBy) =>
      reject(new Error(`the process of the graphs ended (${killedBy ?? code}): ${complaints.trim()}`)),
    );
  }).finally(kill);
}
