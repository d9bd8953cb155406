import { setTimeout as delay } from 'node:timers/promises';
import { type ProcessManager, type ProcessSpec, type StartOutcome } from './process-manager';

/** A start is given up when none of its processes has said anything new for this long. */
const QUIET_MS = 180_000;
/** How often a slow start says what it waits for. */
const TELL_EVERY_MS = 15_000;
const POLL_EVERY_MS = 100;

/** The processes run but do not become ready: starting them again would only take as long again. */
export class NeverReady extends Error {
  override readonly name = 'NeverReady';
}

export type Progress = StartOutcome | 'ready' | `waits for ${string}`;

interface StartOptions {
  processes: Pick<ProcessManager, 'start' | 'findPid' | 'lastLogLine' | 'logFile'>;
  report: (name: string, progress: Progress) => void;
  /** Replaced in tests. */
  now?: () => number;
  pause?: () => Promise<unknown>;
}

/**
 * Starts what does not run, and waits until all of it is ready: as long as anything makes progress, that is, says
 * something new in its log or about what it lacks. In any case leaves running what runs, for the next attempt.
 * @throws Error as soon as a process has ended; NeverReady when nothing has made progress for three minutes
 */
export async function startProcesses(
  specs: readonly ProcessSpec[],
  { processes, report, now = () => performance.now(), pause = () => delay(POLL_EVERY_MS) }: StartOptions,
): Promise<void> {
  for (const spec of specs) report(spec.name, await processes.start(spec));
  const waiting = new Map<ProcessSpec, `waits for ${string}`>(
    specs.map((spec) => [spec, 'waits for a first look']),
  );
  const said = new Set<string>();
  let progressAt = now();
  let toldAt = now();

  for (;;) {
    await Promise.all([...waiting.keys()].map(look));
    if (waiting.size === 0) return;
    if (now() - progressAt > QUIET_MS) throw new NeverReady(reasons());
    if (now() - toldAt > TELL_EVERY_MS) {
      for (const [{ name }, state] of waiting) report(name, state);
      toldAt = now();
    }
    await pause();
  }

  async function look(spec: ProcessSpec): Promise<void> {
    const { name, lacks } = spec;
    const lack = await lacks();
    const line = processes.lastLogLine(name);
    if (processes.findPid(name) === null)
      throw new Error(`${name} ended as it started: ${line} (${processes.logFile(name)})`);
    if (lack === null) {
      waiting.delete(spec);
      progressAt = now();
      return report(name, 'ready');
    }
    const state = `waits for ${lack}; its log ${line === '' ? 'is empty' : `ends with: ${line}`}` as const;
    waiting.set(spec, state);
    // Times and ids differ when the same is said again.
    const words = `${name} ${state.replace(/[\da-f]{8,}|\d+/g, '')}`;
    if (!said.has(words)) progressAt = now();
    said.add(words);
  }

  function reasons(): string {
    const each = [...waiting].map(([{ name }, state]) => `  ${name} ${state} (${processes.logFile(name)})`);
    return ['nothing has moved for three minutes:', ...each].join('\n');
  }
}
