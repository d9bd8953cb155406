import type { CallToolResult, ServerContext } from '@modelcontextprotocol/server';
import type { Session } from '../session/session';
import type { ProgressView } from '../terminal/progress';
import { explainFailure, explanationLines } from './explanations';
import type { Folders } from './folders';

/** What all calls of a server have. */
export interface Workplace {
  readonly session: Session;
  readonly folders: Folders;
}

/** One call of a tool. */
export interface Call extends Workplace {
  /** The session of this call: interrupted when the host cancels the call, and with its progress. */
  readonly session: Session;
  /** A session whose progress is this part of the call's, in percent. */
  part(from: number, to: number): Session;
  /** Tells the host that the call is so far, and writes it to its log. */
  tell(percent: number, message: string): void;
  /** What is left of so many seconds since the call began. */
  secondsLeft(seconds: number): number;
}

/** What a tool answers: the same for programs and for models. */
export interface Answer {
  /** Fits the output schema of the tool. */
  readonly structured: Record<string, unknown>;
  readonly lines: readonly string[];
  /** What was asked for did not come about, for instance because the render failed. */
  readonly isError?: boolean;
}

/** A tool whose answer, or what it throws, becomes a result that the model reads. */
export function tool<Args>(
  workplace: Workplace,
  run: (args: Args, call: Call) => Promise<Answer>,
): (args: Args, context: ServerContext) => Promise<CallToolResult> {
  return async (args, context) => {
    try {
      return resultOf(await run(args, createCall(workplace, context)));
    } catch (thrown) {
      // Without structured content: hosts refuse what does not fit the tool's output schema, of errors too.
      return { content: textOf(explanationLines(explainFailure(thrown))), isError: true };
    }
  };
}

function resultOf({ structured, lines, isError = false }: Answer): CallToolResult {
  return { content: textOf(lines), structuredContent: structured, isError };
}

function textOf(lines: readonly string[]): CallToolResult['content'] {
  return [{ type: 'text', text: lines.join('\n') }];
}

function createCall(workplace: Workplace, { mcpReq }: ServerContext): Call {
  const began = performance.now();
  const notify = createNotifier(mcpReq);
  const sessionOf = (from: number, to: number): Session => ({
    ...workplace.session,
    interrupted: mcpReq.signal,
    progress: () => Promise.resolve(viewOf(notify, from, to)),
  });
  const tell = (percent: number, message: string) => {
    notify(percent, message);
    workplace.session.say(message);
  };
  const secondsLeft = (seconds: number) => seconds - (performance.now() - began) / 1000;
  return { ...workplace, session: sessionOf(0, 100), part: sessionOf, tell, secondsLeft };
}

type Notify = (percent: number, message: string) => void;

/** Tells the host how far a call is, if it asked for that. By the protocol, the number rises with every notification. */
function createNotifier({ _meta, notify, signal }: ServerContext['mcpReq']): Notify {
  const progressToken = _meta?.progressToken;
  if (progressToken === undefined) return () => undefined;
  let said = '';
  let last = -1;
  return (percent, message) => {
    // Figures within a message change with every chunk of an upload.
    const words = message.replace(/[\d.]+/g, '');
    if (signal.aborted || (words === said && percent < last + 1)) return;
    said = words;
    // Words can change where the number does not.
    last = percent > last ? percent : last + 0.001;
    const params = { progressToken, progress: last, total: 100, message };
    // A host that has gone needs no notification.
    void notify({ method: 'notifications/progress', params }).catch(() => undefined);
  };
}

function viewOf(notify: Notify, from: number, to: number): ProgressView {
  return {
    show(lines) {
      const percents = lines.map(({ percent }) => Math.floor(Math.min(Math.max(percent, 0), 100)));
      const mean = percents.reduce((sum, percent) => sum + percent, 0) / percents.length;
      const words = lines.map(({ label, detail }, i) => `${label} ${percents[i]} %, ${detail}`);
      notify(from + ((to - from) * mean) / 100, words.join(' · '));
    },
    end: () => undefined,
  };
}
