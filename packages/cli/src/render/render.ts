import type { Engine, LipSync, RenderRecord, SyncMode } from '@lipsync/client';
import { type Command, Option } from 'commander';
import { duration, engineList, ENGINES, SYNC_MODES, webhookAddress } from '../choices';
import { checkRenderId } from '../ids';
import type { Session } from '../session/session';
import { type FinishOptions, finishRender } from './finish';
import { planResults, type ResultOptions } from './results';
import { inputName, nameOf, sourceOf, uploadFiles } from './sources';

export interface RenderOptions extends ResultOptions, FinishOptions {
  engines: Engine[];
  syncMode: SyncMode;
  preparation?: string;
  webhook?: string;
  idempotencyKey?: string;
}

export function addRenderCommands(program: Command, session: Session): void {
  const render = program
    .command('render <video> <voice>')
    .description('render a video so that its mouth follows a voice, and save the results')
    .addOption(
      new Option('-e, --engines <names>', `${ENGINES.join(', ')}, several with commas, or all`)
        .argParser(engineList)
        .default(['musetalk'], 'musetalk'),
    )
    .addOption(
      new Option('-s, --sync-mode <mode>', 'what to do when the lengths differ')
        .choices(SYNC_MODES)
        .default('cut_off'),
    )
    .option('--preparation <id>', 'use this preparation of the video, and skip the analysis')
    .option('--webhook <url>', 'a public https URL to notify at the end', webhookAddress)
    .option('--idempotency-key <key>', 'repeating the command with the same key and inputs renders once')
    .option('--no-wait', 'print the id of the render and exit');
  addFinishOptions(render).action(
    async (video: string, voice: string, options: RenderOptions & { wait: boolean }) => {
      const planned = await planRender(video, voice, options);
      const client = await session.client();
      const record = await startRender(planned, client, session);
      if (options.wait) await finishRender(record, planned.files, options, client, session);
      else session.answer(record, [record.id]);
    },
  );

  const download = program
    .command('download <render-id>')
    .description('save the results of a render; waits for one that has not ended')
    .option('-e, --engines <names>', 'only these', engineList);
  addFinishOptions(download).action(
    async (id: string, options: ResultOptions & FinishOptions & { engines?: Engine[] }) => {
      const client = await session.client();
      const record = await client.renders.get(checkRenderId(id), { signal: session.interrupted });
      const engines = options.engines ?? record.engines.map(({ engine }) => engine);
      await finishRender(record, planResults(engines, id, options), options, client, session);
    },
  );
}

function addFinishOptions(command: Command): Command {
  return command
    .option('-o, --out <path>', 'a folder or a file name; default: <name>.<engine>.mp4 in this folder')
    .option('-f, --force', 'replace existing files')
    .option(
      '--timeout <duration>',
      'stop waiting after this time, such as 90s, 30m or 2h; the render goes on',
      duration,
    )
    .option('--cancel-on-interrupt', 'Ctrl-C cancels the render; without this, it only stops waiting');
}

/** Looks at files and names before anything is sent. Who does not wait saves no files. */
async function planRender(video: string, voice: string, options: RenderOptions & { wait: boolean }) {
  const sources = { video: await sourceOf(video, 'video'), audio: await sourceOf(voice, 'audio') };
  const files = options.wait ? planResults(options.engines, nameOf(sources.video), options) : [];
  return { sources, files, options };
}

async function startRender(
  { sources, options }: Awaited<ReturnType<typeof planRender>>,
  client: LipSync,
  session: Session,
): Promise<RenderRecord> {
  const [video, audio] = await uploadFiles([sources.video, sources.audio], client, session);
  // Not interrupted: nobody would know whether there is a render.
  const record = await client.renders.create({
    video,
    audio,
    engines: options.engines,
    sync_mode: options.syncMode,
    ...(options.preparation !== undefined && { preparation_id: options.preparation }),
    ...(options.webhook !== undefined && { webhook_url: options.webhook }),
    ...(options.idempotencyKey !== undefined && { idempotency_key: options.idempotencyKey }),
  });
  session.say(`Render ${record.id}`);
  await (await session.history()).add(record, [sources.video, sources.audio].map(inputName));
  return record;
}
