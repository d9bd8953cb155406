import { printable, printLine } from './print';

/** One line of progress: of an upload, a download, an engine, or a record as a whole. */
export interface ProgressLine {
  label: string;
  /** From 0 to 100; values outside are shown as the nearer end. */
  percent: number;
  /** What is being done, in a few words. */
  detail: string;
}

/** Shows lines that change. The lines of a view keep their number and order until it has ended. */
export interface ProgressView {
  show(lines: readonly ProgressLine[]): void;
  /** Leaves the last lines where they are; what is written next begins below them. */
  end(): void;
}

export type ProgressStream = NodeJS.WritableStream & { isTTY?: boolean; columns?: number };

const REDRAW_MS = 80;
const BAR_WIDTH = 20;
const STEP_PERCENT = 25;

/** A terminal shows lines that are rewritten in place; anything else, for instance a log, gets a line at every step. */
export async function createProgressView(
  stream: ProgressStream,
  { TERM }: { readonly TERM?: string | undefined },
): Promise<ProgressView> {
  // Terminals of containers can have no size.
  const movesCursor = stream.isTTY === true && TERM !== 'dumb' && (stream.columns ?? 0) > 0;
  return movesCursor ? rewriting(stream) : appending(stream);
}

export const SILENT: ProgressView = { show: () => undefined, end: () => undefined };

async function rewriting(stream: NodeJS.WritableStream): Promise<ProgressView> {
  // An ES module with a dozen dependencies, which scripts and logs never need.
  const { createLogUpdate } = await import('log-update');
  const draw = createLogUpdate(stream);
  let latest = '';
  let drawnAt = -Infinity;
  return {
    show(lines) {
      latest = align(lines)
        .map(({ label, percent, detail }) =>
          printable(`  ${label}  ${bar(percent)} ${percentage(percent)}  ${detail}`),
        )
        .join('\n');
      // Uploads report every chunk.
      if (performance.now() - drawnAt < REDRAW_MS) return;
      drawnAt = performance.now();
      draw(latest);
    },
    end() {
      if (latest === '') return;
      draw(latest);
      draw.done();
    },
  };
}

function appending(stream: NodeJS.WritableStream): ProgressView {
  const shown: string[] = [];
  return {
    show(lines) {
      for (const [i, { label, percent, detail }] of align(lines).entries()) {
        // Figures within the detail change all the time, its words do not.
        const step = `${Math.floor(percent / STEP_PERCENT)} ${detail.replace(/[\d.]+/g, '')}`;
        if (shown[i] === step) continue;
        shown[i] = step;
        printLine(stream, `  ${label}  ${percentage(percent)}  ${detail}`);
      }
    },
    end: () => undefined,
  };
}

function align(lines: readonly ProgressLine[]): ProgressLine[] {
  const width = Math.max(...lines.map(({ label }) => label.length));
  return lines.map(({ label, percent, detail }) => ({
    label: label.padEnd(width),
    percent: Math.min(Math.max(percent, 0), 100),
    detail,
  }));
}

function bar(percent: number): string {
  const done = Math.round((percent / 100) * BAR_WIDTH);
  return '█'.repeat(done) + '░'.repeat(BAR_WIDTH - done);
}

/** Rounded down: 100 % is what is done. */
function percentage(percent: number): string {
  return `${String(Math.floor(percent)).padStart(3)} %`;
}
