import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import path from 'node:path';
import { type Engine, ENGINES, SYNC_MODES } from '@lipsync/contract';
import { Command, Option } from 'commander';
import { parseEngines } from './command-line';
import { type ReceivedEvent, startEventReceiver } from './event-receiver';
import { DEFAULT_STACK_ROOT, REPOSITORY_ROOT, SAMPLE_AUDIO, SAMPLE_VIDEO } from './layout';
import { lipsyncRender } from './lipsync';
import { createStack, joinStack } from './local-stack';
import { provisionCustomer } from './provision';
import { Interrupted, untilInterrupted } from './waiting';

interface DemoOptions {
  video: string;
  audio: string;
  engines: Engine[];
  syncMode: string;
  out: string;
  json?: boolean;
  keep?: boolean;
  root: string;
  target?: string;
  key?: string;
}

type Rendered = Awaited<ReturnType<typeof lipsyncRender>> & { event?: ReceivedEvent; boot_seconds?: number };

/**
 * `npm run demo`: the command `lipsync render` with a service that is started for it, or with a remote one; and the
 * webhook, which on a customer's side is a program's business.
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
  for (const file of [options.video, options.audio])
    if (!existsSync(file)) throw new Error(`${file} does not exist`);
  const say = (line: string) => {
    if (options.json !== true) console.log(line);
  };
  const { target } = options;
  const { render, event, files, exitCode, boot_seconds } = await (target === undefined
    ? renderOnLocalStack(options, say)
    : renderOnTarget({ ...options, target }, say));
  const seconds = (performance.now() - startedAt) / 1000;
  process.exitCode = exitCode;

  const saved = files.map(({ path: file, ...rest }) => ({ ...rest, file }));
  if (options.json === true) {
    const result = { record: render, event, files: saved, boot_seconds, total_seconds: seconds };
    return console.log(JSON.stringify(result, null, 2));
  }
  say(`Render ${render.id} is ${render.status}`);
  if (event !== undefined) say(`Webhook ${event.type} (${event.id}) arrived, signature verified`);
  for (const { file } of saved) say(`\n  Result: ${file}\n`);
  say(`Done in ${seconds.toFixed(1)} s.`);
}

/** What the command is called with. */
function argumentsOf({ video, audio, engines, syncMode, out, json }: DemoOptions): string[] {
  const to = ['--out', path.resolve(out), '--force', ...(json === true ? ['--quiet'] : [])];
  return [video, audio, '--engines', engines.join(), '--sync-mode', syncMode, ...to];
}

/**
 * Starts the system unless it is running, renders as a new customer, and restores the previous state in every case; when
 * other demos are using the system, the last of them does.
 */
async function renderOnLocalStack(options: DemoOptions, say: (line: string) => void): Promise<Rendered> {
  const startedAt = performance.now();
  const stack = createStack({
    root: path.resolve(options.root),
    onProgress: (name, progress) => {
      if (progress.startsWith('waits')) say(`  ${name} ${progress}`);
    },
  });
  const { wasUp, leave } = await joinStack(stack, { keep: options.keep === true });
  say(
    wasUp
      ? 'Checking the running system …'
      : 'Starting Postgres, Redis, S3, api, media-worker, gpu-worker, webhook-dispatcher …',
  );
  let closeReceiver: (() => Promise<void>) | undefined;
  async function bootAndRender(): Promise<Rendered> {
    const description = await stack.up();
    const boot_seconds = (performance.now() - startedAt) / 1000;
    const state = stack.state();
    say(`  up in ${boot_seconds.toFixed(1)} s at ${description.base_url}`);

    const customer = await provisionCustomer(state, 'demo');
    say(`Created customer ${customer.id}`);
    const receiver = await startEventReceiver(state, customer.signing_secret);
    closeReceiver = receiver.close;
    say(`Uploading ${options.video} and ${options.audio}, rendering …`);
    const rendered = await lipsyncRender([...argumentsOf(options), '--webhook', receiver.url], {
      baseUrl: description.base_url,
      apiKey: customer.api_key,
    });
    return { ...rendered, event: await receiver.eventFor(rendered.render.id), boot_seconds };
  }

  try {
    return await untilInterrupted(bootAndRender());
  } finally {
    await closeReceiver?.();
    await leave();
  }
}

/**
 * Renders on a remote service. Requests no webhook, which could not reach this machine: it has no public HTTPS address.
 */
async function renderOnTarget(
  options: DemoOptions & { target: string },
  say: (line: string) => void,
): Promise<Rendered> {
  const apiKey = options.key ?? process.env['LIPSYNC_API_KEY'];
  if (apiKey === undefined) throw new Error('--target needs --key, or LIPSYNC_API_KEY in the environment');
  say(`Uploading ${options.video} and ${options.audio} to ${options.target}, rendering …`);
  return lipsyncRender(argumentsOf(options), { baseUrl: options.target, apiKey });
}

program.parseAsync().catch((error: unknown) => {
  console.error(`demo: ${error instanceof Error ? error.message : String(error)}`);
  // The interrupted work is still running and would keep the process alive.
  if (error instanceof Interrupted) process.exit(128 + constants.signals[error.signal]);
  process.exitCode = 1;
});
