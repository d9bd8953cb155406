import type { Readable, Writable } from 'node:stream';
import { styleText } from 'node:util';
import { LipSync, type LipSyncOptions } from '@lipsync/client';
import { CommandError } from '../failures/exit-codes';
import { printDocument, printLine } from '../terminal/print';
import { createProgressView, type ProgressStream, type ProgressView, SILENT } from '../terminal/progress';
import {
  checkApiKey,
  type Connection,
  type ConnectionFlags,
  isReadOnTheWay,
  resolveConnection,
} from './connection';
import { type History, historyFolder, openHistory } from './history';
import { type Environment, profilesFile, readProfiles } from './profiles';

/** What a command gets from its process. */
export interface Surroundings {
  env: Environment;
  stdin: AsyncIterable<Uint8Array | string> & Readable & { isTTY?: boolean };
  /** Gets the answer and nothing else: with --json exactly one JSON document. */
  stdout: Writable;
  /** Gets messages and progress. */
  stderr: ProgressStream;
  /** Aborted when the user or the system asks the command to end; its reason is the name of the signal. */
  interrupted: AbortSignal;
}

export interface GlobalOptions extends ConnectionFlags {
  json?: boolean;
  quiet?: boolean;
}

/** One run of a command: its client, its answer, its messages. */
export interface Session extends Surroundings {
  /** Resolves to the client of the service that flags, environment or profile name. */
  client(options?: Pick<LipSyncOptions, 'maxRetries'>): Promise<LipSync>;
  connection(): Promise<Connection>;
  /** What was made with the key that is used. */
  history(): Promise<History>;
  profilesFile: string;
  /** Prints the answer of the command, once: the lines, or with --json the value. */
  answer(value: unknown, lines: readonly string[]): void;
  hasAnswered(): boolean;
  /** Tells the user something, unless --quiet. */
  say(line: string): void;
  /** Tells the user that a key goes to this URL in clear text, if it does. */
  warnOfClearText(baseUrl: string): void;
  progress(): Promise<ProgressView>;
}

export function createSession(surroundings: Surroundings, options: () => GlobalOptions): Session {
  const { env, stdout, stderr } = surroundings;
  const file = profilesFile(env);
  let answered = false;
  const say = (line: string) => {
    if (options().quiet !== true) printLine(stderr, line);
  };
  const warnOfClearText = (baseUrl: string) => {
    if (isReadOnTheWay(baseUrl))
      say(`Warning: the key is sent to ${baseUrl} without encryption. Use https if the service has it.`);
  };
  const connection = async () => resolveConnection(options(), env, await readProfiles(file));
  return {
    ...surroundings,
    profilesFile: file,
    connection,
    client: async (clientOptions) => {
      const { apiKey, baseUrl, profile } = await connection();
      checkApiKey(
        apiKey,
        profile === null ? 'LIPSYNC_API_KEY' : `The key of profile "${profile}"`,
        'unauthorized',
      );
      warnOfClearText(baseUrl);
      return new LipSync({ ...clientOptions, apiKey, baseUrl });
    },
    history: async () =>
      openHistory(historyFolder(env, await connection()), (message) => say(`Warning: ${message}`)),
    answer(value, lines) {
      if (answered) throw new Error('a command has one answer');
      answered = true;
      if (options().json === true) printDocument(stdout, value);
      else for (const line of lines) printLine(stdout, line);
    },
    hasAnswered: () => answered,
    say,
    warnOfClearText,
    progress: async () => (options().quiet === true ? SILENT : createProgressView(stderr, env)),
  };
}

/** The failure of a command that was asked to end. */
export function interruption(
  { interrupted }: Pick<Surroundings, 'interrupted'>,
  message: string,
  advice?: string,
): CommandError {
  return new CommandError(message, interrupted.reason === 'SIGTERM' ? 'terminated' : 'interrupted', advice);
}

/** Colors only on terminals, and not where the environment asks for none (https://no-color.org). */
export function styled(
  style: 'red',
  text: string,
  { stderr, env }: Pick<Surroundings, 'stderr' | 'env'>,
): string {
  const isColored = stderr.isTTY === true && !env['NO_COLOR'] && env['TERM'] !== 'dumb';
  return isColored ? styleText(style, text, { validateStream: false }) : text;
}
