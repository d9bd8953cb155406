import { constants } from 'node:os';
import path from 'node:path';
import { type Engine, ENGINES, SYNC_MODES } from '@lipsync/contract';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { DemoOptions } from './demo/demo-options';
import { Interrupted } from './demo/interrupted';
import { renderOnLocalStack } from './demo/on-local-stack';
import { renderOnTarget } from './demo/on-target';
import { createProgressLines } from './demo/progress-line';
import type { RenderFilesResult } from './demo/render-files';
import { DEFAULT_STACK_ROOT, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from './layout';

/**
 * `npm run demo`: renders local files on a service started on this machine, or on a remote one, through the public API
 * as a customer's program would.
 */
const program = new Command('demo')
  .description(
    'Boots the whole system and renders local files, from signed upload to verified webhook and download.',
  )
  .option('--video <file>', 'a talking face', SAMPLE_VIDEO)
  .option('--audio <file>', 'the voice', SAMPLE_AUDIO)
  .option('--engines <names>', `comma-separated, of ${ENGINES.join(', ')}`, engineList, ['musetalk'])
  .addOption(
    new Option('--sync-mode <mode>', 'when the lengths differ').choices(SYNC_MODES).default('cut_off'),
  )
  .option('--out <file>', 'the result', path.join(REPOSITORY_ROOT, '.local', 'demo', 'result.mp4'))
  .option('--json', 'one JSON object instead of text')
  .option('--keep', 'leave the stack running afterwards')
  .option('--root <dir>', 'data of the stack to use', DEFAULT_STACK_ROOT)
  .option('--target <url>', 'a service that runs already, instead of a stack of its own')
  .option('--key <key>', 'API key at the target; else LIPSYNC_API_KEY')
  .action(demo);

async function demo(options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  const output =
    options.json === true
      ? { say: () => undefined, show: () => undefined }
      : { say: (line: string) => console.log(line), show: createProgressLines(process.stdout) };
  const { target } = options;
  const result = await (target === undefined
    ? renderOnLocalStack(options, output)
    : renderOnTarget({ ...options, target }, output));
  const seconds = (performance.now() - startedAt) / 1000;
  if (options.json === true) console.log(JSON.stringify({ ...result, total_seconds: seconds }, null, 2));
  else summarise(result, seconds);
  if (result.record.status !== 'completed') process.exitCode = 1;
}

function summarise({ record, event, files }: RenderFilesResult, seconds: number): void {
  console.log(
    `Render ${record.id} is ${record.status}${record.error ? `: ${record.error.code} (${record.error.message})` : ''}`,
  );
  for (const run of record.engines ?? []) {
    const { rendered_frames, output_seconds, processing_ms } = run.usage;
    if (run.status === 'completed' && output_seconds !== undefined && processing_ms !== undefined)
      console.log(
        `  ${run.engine}: ${rendered_frames} frames, ${output_seconds.toFixed(2)} s, in ${(processing_ms / 1000).toFixed(1)} s`,
      );
    if (run.error !== undefined) console.log(`  ${run.engine}: ${run.error.code} (${run.error.message})`);
  }
  if (event !== undefined) console.log(`Webhook ${event.type} (${event.id}) arrived, signature verified`);
  for (const { file } of files) console.log(`\n  Result: ${file}\n`);
  console.log(`Done in ${seconds.toFixed(1)} s.`);
}

function engineList(value: string): Engine[] {
  return value.split(',').map((name) => {
    const engine = ENGINES.find((known) => known === name.trim());
    if (engine === undefined) throw new InvalidArgumentError(`engines are ${ENGINES.join(', ')}`);
    return engine;
  });
}

program.parseAsync().catch((error: unknown) => {
  // The error of fetch says only that it failed; its cause says that nothing listens there or that the name is unknown.
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}${cause}`);
  // The interrupted work is still running and would keep the process alive.
  if (error instanceof Interrupted) process.exit(128 + constants.signals[error.signal]);
  process.exitCode = 1;
});
