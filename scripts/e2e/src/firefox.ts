import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

/** A tab of the machine's Firefox. Expressions answer what JSON can say, and may be promises. */
export interface FirefoxTab {
  visit: (url: string) => Promise<void>;
  evaluate: <Value>(expression: string) => Promise<Value>;
  /** Puts a file into the input that a selector finds. */
  chooseFile: (selector: string, file: string) => Promise<void>;
  close: () => Promise<void>;
}

const PREFERENCES = {
  'media.autoplay.default': 0,
  'datareporting.policy.dataSubmissionEnabled': false,
  'app.update.disabledForTesting': true,
  // What moves into its place would be looked at on its way.
  'ui.prefersReducedMotion': 1,
};

interface Answer {
  id: number;
  type: 'success' | 'error';
  result: unknown;
  message?: string;
}

/**
 * Starts Firefox with a profile of its own, and speaks WebDriver BiDi to it (https://www.w3.org/TR/webdriver-bidi/):
 * playwright-core drives builds of its own alone.
 */
export async function startFirefox(executable: string): Promise<FirefoxTab> {
  const profile = await mkdtemp(path.join(tmpdir(), 'e2e-firefox-'));
  const lines = Object.entries(PREFERENCES).map(
    ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});`,
  );
  await writeFile(path.join(profile, 'user.js'), lines.join('\n'));
  const firefox = spawn(
    executable,
    ['--headless', '--no-remote', '--profile', profile, '--remote-debugging-port=0'],
    { env: { ...process.env, HOME: profile }, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const close = async (): Promise<void> => {
    if (firefox.exitCode === null && firefox.kill('SIGKILL')) await once(firefox, 'exit');
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    return { ...(await openTab(await addressOf(firefox))), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function addressOf(firefox: ChildProcess): Promise<string> {
  if (firefox.stderr === null) throw new Error('Firefox says nothing');
  for await (const line of createInterface(firefox.stderr)) {
    const address = /WebDriver BiDi listening on (ws:\S+)/.exec(line)?.[1];
    if (address !== undefined) return address;
  }
  throw new Error('Firefox ended before it could be spoken to');
}

async function openTab(address: string): Promise<Omit<FirefoxTab, 'close'>> {
  const socket = new WebSocket(`${address}/session`);
  await once(socket, 'open');
  const waiting = new Map<number, (answer: Answer) => void>();
  socket.addEventListener('message', ({ data }) => {
    const answer = JSON.parse(String(data)) as Answer;
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });
  let last = 0;
  const ask = async <Result>(method: string, params: object): Promise<Result> => {
    const id = ++last;
    const answer = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const { type, result, message } = await answer;
    if (type === 'error') throw new Error(`${method}: ${message}`);
    return result as Result;
  };
  await ask('session.new', { capabilities: {} });
  const tree = await ask<{ contexts: { context: string }[] }>('browsingContext.getTree', {});
  const context = tree.contexts[0]?.context;
  const evaluate = async <Value>(expression: string): Promise<Value> => {
    const { result, exceptionDetails } = await ask<{ result: Value; exceptionDetails?: { text: string } }>(
      'script.evaluate',
      { expression, target: { context }, awaitPromise: true },
    );
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.text);
    return result;
  };
  return {
    visit: (url) => ask('browsingContext.navigate', { context, url, wait: 'complete' }),
    evaluate: async <Value>(expression: string) => {
      const json = `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`;
      return JSON.parse((await evaluate<{ value: string }>(json)).value) as Value;
    },
    chooseFile: async (selector, file) => {
      const element = await evaluate<{ sharedId: string }>(
        `document.querySelector(${JSON.stringify(selector)})`,
      );
      await ask('input.setFiles', { context, element, files: [file] });
    },
  };
}
