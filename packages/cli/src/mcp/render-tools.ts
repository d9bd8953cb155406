import type { MediaType, PreparationRecord, RenderRecord } from '@lipsync/client';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ENGINES, SYNC_MODES } from '../choices';
import { inputName, namesFile, type Source, sourceOf, uploadFiles } from '../render/sources';
import { type Answer, type Call, tool, type Workplace } from './call';
import { answerOf, follow } from './record-tools';
import { callSeconds, idempotencyKey, mediaInput, recordOutput, resourceId, webhookUrl } from './schemas';

/** Percent of the progress of a call that is left for uploads. */
const UPLOADED = 10;

export function addRenderTools(server: McpServer, workplace: Workplace): void {
  const annotations = {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: false,
    openWorldHint: true,
  };

  server.registerTool(
    'render',
    {
      title: 'Render a lip-synced video',
      description:
        'Renders a video of a talking face so that its mouth follows a voice. Uploads whatever is a file, creates the render, and waits for it to end. When it has completed, call download. To try another sync mode or engine, pass the asset ids of the first render instead of the files, which saves the uploads; each render costs computing time. If this call is cancelled during the uploads, no render is created. After that, cancelling the call only stops the waiting: the render goes on unless the tool cancel is called, and list has its id.',
      inputSchema: z.strictObject({
        video: mediaInput('video with the face'),
        audio: mediaInput('voice, or a video whose sound is the voice'),
        engines: z
          .array(z.enum(ENGINES))
          .min(1)
          .max(ENGINES.length)
          .refine((engines) => new Set(engines).size === engines.length, 'list each engine only once')
          .default(['musetalk'])
          .describe(
            'musetalk: the fastest, for drafts and long clips. latentsync: smoother movement, takes several times as long. highsync: the steadiest picture, takes the longest. Pass several to compare them; the video is analyzed once.',
          ),
        sync_mode: z
          .enum(SYNC_MODES)
          .default('cut_off')
          .describe(
            'What happens when the lengths differ. cut_off: the result is as long as the shorter one. silence: as long as the longer one, with silence after the voice or the last frame held. As long as the voice: loop (the video starts over), bounce (it plays forward and backward), remap (it plays slower or faster).',
          ),
        preparation_id: resourceId('prp_… of a completed preparation of the same video').exactOptional(),
        webhook_url: webhookUrl,
        idempotency_key: idempotencyKey,
        wait_seconds: callSeconds,
      }),
      outputSchema: recordOutput,
      annotations,
    },
    tool(workplace, async ({ video, audio, wait_seconds: seconds, ...rest }, call) => {
      const sources = [await mediaOf(video, 'video', call), await mediaOf(audio, 'audio', call)] as const;
      const client = await call.session.client();
      const [videoInput, audioInput] = await uploadFiles(sources, client, call.part(0, UPLOADED));
      // Not cancelled: nobody would know whether there is a render.
      const record = await client.renders.create({ video: videoInput, audio: audioInput, ...rest });
      return created(record, sources, seconds, call);
    }),
  );

  server.registerTool(
    'prepare',
    {
      title: 'Analyze a video ahead of its voice',
      description:
        'Analyzes a video (finds and follows the face) while its voice is still being made, or to learn early whether it can be used: it fails if there is no face. Renders with its preparation_id start sooner. Not needed when video and voice are both ready: a render does its own analysis.',
      inputSchema: z.strictObject({
        video: mediaInput('video with the face'),
        webhook_url: webhookUrl,
        idempotency_key: idempotencyKey,
        wait_seconds: callSeconds,
      }),
      outputSchema: recordOutput,
      annotations,
    },
    tool(workplace, async ({ video, wait_seconds: seconds, ...rest }, call) => {
      const source = await mediaOf(video, 'video', call);
      const client = await call.session.client();
      const [input] = await uploadFiles([source], client, call.part(0, UPLOADED));
      const record = await client.preparations.create({ video: input, ...rest });
      return created(record, [source], seconds, call);
    }),
  );
}

/** Files are looked for only in the folders of this server. */
async function mediaOf(named: string, mediaType: MediaType, { folders }: Call): Promise<Source> {
  return sourceOf(namesFile(named) ? await folders.resolve(named) : named, mediaType);
}

/** Remembers what was created, so that it is found again if the host ends the call, and waits for it. */
async function created(
  record: RenderRecord | PreparationRecord,
  sources: readonly Source[],
  seconds: number,
  call: Call,
): Promise<Answer> {
  call.tell(UPLOADED, `Created ${record.id}`);
  await (await call.session.history()).add(record, sources.map(inputName));
  const left = call.secondsLeft(seconds);
  if (left <= 0) return answerOf(record);
  const session = call.part(UPLOADED, 100);
  return answerOf(await follow(record.id, left, await session.client(), session, record));
}
