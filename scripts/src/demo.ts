import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { ENGINES, SYNC_MODES, type Engine, type SyncMode } from '@lipsync/contract';
import { Command, InvalidArgumentError, Option } from 'commander';
import { createApiClient } from './demo/api-client';
import { startEventReceiver } from './demo/event-receiver';
import { createProgressLines } from './demo/progress-line';
import { renderFiles, type RenderFilesResult } from './demo/render-files';
import { DEFAULT_STACK_ROOT, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from './local-stack/layout';
import { provisionCustomer } from './local-stack/provision';
import { createStack, writeDescription } from './local-stack/stack';

interface DemoOptions {
  video: string;
  audio: string;
  engines: Engine[];
  syncMode: SyncMode;
  out: string;
  json?: boolean;
  keep?: boolean;
  root: string;
}

/** `npm run demo`: the whole system on this machine renders local files, as a customer would have it done. */
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
  .action(demo);

async function demo(options: DemoOptions): Promise<void> {
  for (const file of [options.video, options.audio])
    if (!existsSync(file)) throw new Error(`${file} is not there`);
  mkdirSync(path.dirname(path.resolve(options.out)), { recursive: true });
  const startedAt = performance.now();
  const say = options.json === true ? () => undefined : (line: string) => console.log(line);

  const stack = createStack({ root: path.resolve(options.root) });
  const wasUp = stack.describe()?.services.some(({ pid }) => pid !== null) ?? false;
  say(
    wasUp
      ? 'Checking the running system …'
      : 'Starting Postgres, Redis, S3, api, media-worker, gpu-worker, webhook-dispatcher …',
  );
  const description = await stack.up();
  writeDescription(options.root, description);
  const bootSeconds = (performance.now() - startedAt) / 1000;
  const state = stack.state();
  if (state === null) throw new Error('the stack has no state');
  say(`  up in ${bootSeconds.toFixed(1)} s at ${description.base_url}`);

  const customer = await provisionCustomer(state, 'demo');
  say(`Created customer ${customer.id}`);
  const receiver = await startEventReceiver(state, customer.signing_secret);
  try {
    say(`Uploading ${options.video} and ${options.audio}, rendering …`);
    const result = await renderFiles(
      {
        videoFile: options.video,
        audioFile: options.audio,
        engines: options.engines,
        syncMode: options.syncMode,
        outFile: path.resolve(options.out),
      },
      {
        api: createApiClient({ baseUrl: description.base_url, apiKey: customer.api_key }),
        receiver,
        show: options.json === true ? () => undefined : createProgressLines(process.stdout),
      },
    );
    const seconds = (performance.now() - startedAt) / 1000;
    if (options.json === true)
      console.log(JSON.stringify({ ...result, boot_seconds: bootSeconds, total_seconds: seconds }, null, 2));
    else summarise(result, seconds);
    if (result.record.status !== 'completed') process.exitCode = 1;
  } finally {
    await receiver.close();
    if (!wasUp && options.keep !== true) await stack.down();
  }
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
  console.log(`Webhook ${event.type} (${event.id}) arrived, signature verified`);
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
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
