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
        'Renders a video of a talking face so that its mouth follows a voice. Uploads whatever is a file, creates the render, and waits for its end. It costs computing time: to try another sync mode or engine, name the asset ids of the first render and not the files. When it is completed, call download. Cancelling this call while files are uploaded creates no render; after that it only stops waiting, and the render goes on until it ends or the tool cancel is called; list has its id.',
      inputSchema: z.strictObject({
        video: mediaInput('video with the face'),
        audio: mediaInput('voice, or a video whose sound is the voice'),
        engines: z
          .array(z.enum(ENGINES))
          .min(1)
          .max(ENGINES.length)
          .refine((engines) => new Set(engines).size === engines.length, 'name each engine once')
          .default(['musetalk'])
          .describe(
            'musetalk: the quick one, for drafts and long clips. latentsync: smoother movement, takes several times as long. highsync: the calmest picture, takes the longest. Name several to compare them; the video is analyzed once.',
          ),
        sync_mode: z
          .enum(SYNC_MODES)
          .default('cut_off')
          .describe(
            'What happens when the lengths differ. cut_off: as long as the shorter of both. silence: as long as the longer; the voice is silent or the last picture stays. As long as the voice: loop (the video starts again), bounce (plays forward and backward), remap (plays slower or faster).',
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
        'Analyzes a video (finds and follows the face) while its voice is still being made, or to learn early whether it can be used: it fails if there is no face. Renders with its preparation_id start sooner. Of no use where video and voice are both there: a render analyzes by itself.',
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
