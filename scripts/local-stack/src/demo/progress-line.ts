import type { RecordResource } from '@lipsync/contract';

export type ShowProgress = (record: RecordResource) => void;

/**
 * One live line per engine with its stage and percentage: rewritten in place on a terminal, otherwise printed whenever
 * it changes.
 */
export function createProgressLines(out: NodeJS.WriteStream): ShowProgress {
  let shown: string[] = [];
  return (record) => {
    const lines = describe(record);
    if (lines.join() === shown.join()) return;
    if (out.isTTY && shown.length > 0) out.write(`\x1b[${shown.length}A\x1b[J`);
    const changed = out.isTTY ? lines : lines.filter((line, i) => line !== shown[i]);
    out.write(changed.map((line) => `${line}\n`).join(''));
    shown = lines;
  };
}

function describe({ stage, engines = [] }: RecordResource): string[] {
  return engines.map((run) => {
    // Until an engine has started, the render's own stage says what it waits for.
    const doing = run.status === 'accepted' ? stage : run.stage;
    const done = Math.round(run.progress_percent / 5);
    const bar = '█'.repeat(done) + '░'.repeat(20 - done);
    return `  ${run.engine.padEnd(10)} ${bar} ${String(Math.floor(run.progress_percent)).padStart(3)} %  ${doing}`;
  });
}
