import { existsSync, mkdirSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { type Engine, ENGINES, type RecordResource, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { Command, Option } from 'commander';
import { createApiClient } from './api-client';
import { parseEngines } from './command-line';
import { type EventReceiver, startEventReceiver } from './event-receiver';
import { DEFAULT_STACK_ROOT, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from './layout';
import { createStack, joinStack, writeDescription } from './local-stack';
import { provisionCustomer } from './provision';
import {
  contentTypeOf,
  type MediaFile,
  renderFiles,
  type RenderFilesRequest,
  type RenderFilesResult,
  type ShowProgress,
} from './render-files';
import { Interrupted, untilInterrupted } from './waiting';

interface DemoOptions {
  video: string;
  audio: string;
  engines: Engine[];
  syncMode: SyncMode;
  out: string;
  json?: boolean;
  keep?: boolean;
  root: string;
  target?: string;
  key?: string;
}

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
  .option('--engines <names>', `comma-separated, of ${ENGINES.join(', ')}`, parseEngines, ['musetalk'])
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

/** The render request; throws when a file does not exist or has a type that the service does not accept. */
function requestOf(options: DemoOptions): RenderFilesRequest {
  const { engines, syncMode } = options;
  const video = mediaFile(options.video, 'video');
  const audio = mediaFile(options.audio, 'audio');
  const outFile = path.resolve(options.out);
  mkdirSync(path.dirname(outFile), { recursive: true });
  return { video, audio, engines, syncMode, outFile };
}

function mediaFile(file: string, mediaType: MediaFile['mediaType']): MediaFile {
  if (!existsSync(file)) throw new Error(`${file} does not exist`);
  return { file, mediaType, contentType: contentTypeOf(file, mediaType) };
}

/**
 * Starts the system unless it is running, renders as a new customer, and restores the previous state in every case; when
 * other demos are using the system, the last of them does.
 */
async function renderOnLocalStack(
  options: DemoOptions,
  { say, show }: { say: (line: string) => void; show: ShowProgress },
): Promise<RenderFilesResult & { boot_seconds: number }> {
  const request = requestOf(options);
  const startedAt = performance.now();
  const stack = createStack({ root: path.resolve(options.root) });
  const { wasUp, leave } = await joinStack(stack, { keep: options.keep === true });
  say(
    wasUp
      ? 'Checking the running system …'
      : 'Starting Postgres, Redis, S3, api, media-worker, gpu-worker, webhook-dispatcher …',
  );
  let receiver: EventReceiver | undefined;
  async function bootAndRender(): Promise<RenderFilesResult & { boot_seconds: number }> {
    const description = await stack.up();
    writeDescription(options.root, description);
    const bootSeconds = (performance.now() - startedAt) / 1000;
    const state = stack.state();
    if (state === null) throw new Error('the stack has no state');
    say(`  up in ${bootSeconds.toFixed(1)} s at ${description.base_url}`);

    const customer = await provisionCustomer(state, 'demo');
    say(`Created customer ${customer.id}`);
    receiver = await startEventReceiver(state, customer.signing_secret);
    say(`Uploading ${options.video} and ${options.audio}, rendering …`);
    const api = createApiClient({ baseUrl: description.base_url, apiKey: customer.api_key });
    return { ...(await renderFiles(request, { api, receiver, show })), boot_seconds: bootSeconds };
  }

  try {
    return await untilInterrupted(bootAndRender());
  } finally {
    await receiver?.close();
    await leave();
  }
}

/**
 * Renders on a remote service. Requests no webhook, which could not reach this machine: it has no public HTTPS address.
 */
async function renderOnTarget(
  options: DemoOptions & { target: string },
  { say, show }: { say: (line: string) => void; show: ShowProgress },
): Promise<RenderFilesResult> {
  const apiKey = options.key ?? process.env['LIPSYNC_API_KEY'];
  if (apiKey === undefined) throw new Error('--target needs --key, or LIPSYNC_API_KEY in the environment');
  const request = requestOf(options);
  say(`Uploading ${options.video} and ${options.audio} to ${options.target}, rendering …`);
  return renderFiles(request, { api: createApiClient({ baseUrl: options.target, apiKey }), show });
}

/**
 * One live line per engine with its stage and percentage: rewritten in place on a terminal, otherwise printed whenever
 * it changes.
 */
function createProgressLines(out: NodeJS.WriteStream): ShowProgress {
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

program.parseAsync().catch((error: unknown) => {
  // The error of fetch says only that it failed; its cause says that nothing listens there or that the name is unknown.
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}${cause}`);
  // The interrupted work is still running and would keep the process alive.
  if (error instanceof Interrupted) process.exit(128 + constants.signals[error.signal]);
  process.exitCode = 1;
});
