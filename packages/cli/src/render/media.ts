import type { LipSync, MediaType } from '@lipsync/client';
import { type Command, Option } from 'commander';
import { duration, MEDIA_TYPES, webhookAddress } from '../choices';
import type { Session } from '../session/session';
import { waitFor } from './records';
import { inputName, mediaTypeOf, type Source, sourceOf, uploadFiles } from './sources';

interface WaitOptions {
  wait: boolean;
  timeout?: number;
}

export function addMediaCommands(program: Command, session: Session): void {
  const prepare = program
    .command('prepare <video>')
    .description('analyze a video once; renders with --preparation skip the analysis')
    .option('--webhook <url>', 'a public https URL to notify at the end', webhookAddress)
    .option('--idempotency-key <key>', 'repeating the command with the same key and video prepares once');
  addWaitOptions(prepare).action(
    async (video: string, options: WaitOptions & { webhook?: string; idempotencyKey?: string }) => {
      const source = await sourceOf(video, 'video');
      const client = await session.client();
      const [input] = await uploadFiles([source], client, session);
      // Not interrupted: nobody would know whether there is a preparation.
      const record = await client.preparations.create({
        video: input,
        ...(options.webhook !== undefined && { webhook_url: options.webhook }),
        ...(options.idempotencyKey !== undefined && { idempotency_key: options.idempotencyKey }),
      });
      session.say(`Preparation ${record.id}`);
      await (await session.history()).add(record, [inputName(source)]);
      const state = options.wait ? await waitFor(record.id, options.timeout, client, session) : record;
      session.answer(state, [record.id]);
    },
  );

  const upload = program
    .command('upload <file>')
    .description('make an asset from a file or https URL, for any number of renders')
    .addOption(
      new Option('-t, --media-type <type>', 'what it is used as; default: by its name').choices(MEDIA_TYPES),
    );
  addWaitOptions(upload).action(
    async (
      file: string,
      { mediaType = mediaTypeOf(file), wait, timeout }: WaitOptions & { mediaType?: MediaType },
    ) => {
      const source = await sourceOf(file, mediaType);
      const client = await session.client();
      const id = await newAsset(source, client, session);
      const asset = await client.assets.get(id);
      await (await session.history()).add(asset, [inputName(source)]);
      session.answer(wait ? await waitFor(id, timeout, client, session) : asset, [id]);
    },
  );
}

/** Returns the id. */
async function newAsset(source: Source, client: LipSync, session: Session): Promise<string> {
  const [input] = await uploadFiles([source], client, session);
  if ('asset_id' in input) return input.asset_id;
  return (await client.assets.create({ url: input.url, media_type: source.mediaType })).id;
}

function addWaitOptions(command: Command): Command {
  return command
    .option('--no-wait', 'print the id and exit')
    .option('--timeout <duration>', 'stop waiting after this time, such as 90s, 30m or 2h', duration);
}
