import path from 'node:path';
import { type StepTools } from './checklist';
import { type GraphReport, type GraphTimes } from './graph-times';
import { reportsOf } from './reporting-process';

/** The compiled process, beside this file. */
const ENTRY = path.join(__dirname, 'graph-times.js');

/**
 * Times the graphs of the pack in a folder, on the provider that its manifest prefers. `found` is called with what is
 * known so far. They run in a process of their own: a run cannot be broken off, nor can a thread that lets go of a card,
 * but their process can be killed. Rejects as `reportsOf` does, and when a graph cannot be loaded or run.
 */
export async function measureGraphs(
  dir: string,
  { signal, found, secondsLeft }: StepTools,
  entry = ENTRY,
): Promise<{ readonly graphs: Record<string, GraphTimes> }> {
  const graphs: Record<string, GraphTimes> = {};
  const args = [entry, dir, String(secondsLeft())];
  for await (const report of reportsOf<GraphReport>(process.execPath, args, signal)) {
    if (report === 'done') break;
    if ('failed' in report) throw new Error(report.failed);
    graphs[report.graph] = report.times;
    found({ graphs: { ...graphs } });
  }
  return { graphs };
}
