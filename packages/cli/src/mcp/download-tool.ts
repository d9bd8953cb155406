import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Engine, RenderRecord } from '@lipsync/client';
import type { McpServer } from '@modelcontextprotocol/server';
import { z } from 'zod';
import { ENGINES } from '../choices';
import { CommandError } from '../failures/exit-codes';
import { checkRenderId } from '../ids';
import { type PlannedFile, planResults, saveResults } from '../render/results';
import { tool, type Workplace } from './call';
import type { Folders } from './folders';
import { downloadOutput, resourceId } from './schemas';

export function addDownloadTool(server: McpServer, workplace: Workplace): void {
  server.registerTool(
    'download',
    {
      title: 'Save the results of a render',
      description:
        'Saves the results of a render as MP4 files on this machine, one per engine. Works while other engines are still running, and any number of times until expires_at of the render. A file appears only when it is complete. An existing file is an error unless overwrite is true.',
      inputSchema: z.strictObject({
        id: resourceId('ren_…'),
        engines: z
          .array(z.enum(ENGINES))
          .min(1)
          .exactOptional()
          .describe('Only these; default: all that have completed'),
        to: z
          .string()
          .min(1)
          .default('.')
          .describe(
            'A folder (one that exists, or a path ending in /), which gets <id>.<engine>.mp4, or a file name ending in .mp4; with several engines, the engine name is added before the extension. Missing folders are created.',
          ),
        overwrite: z.boolean().default(false).describe('Replace existing files. Ask the user first'),
      }),
      outputSchema: downloadOutput,
      // It replaces files if it is told to.
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    tool(workplace, async ({ id, engines, to, overwrite }, { session, folders }) => {
      const client = await session.client();
      const record = await client.renders.get(checkRenderId(id), { signal: session.interrupted });
      const wanted = wantedOf(record, engines);
      const planned = await planFiles(wanted.done, id, to, overwrite, folders);
      const files = await saveResults(record, planned, client, session);
      await (
        await session.history()
      ).note(id, { status: record.status, files: files.map((file) => file.path) });
      return {
        structured: { render_id: id, files, not_saved: wanted.open },
        lines: [
          ...files.map((file) => `${file.engine}: ${file.path} (SHA-256 ${file.sha256})`),
          ...wanted.open.map(({ engine, status }) => `${engine}: no result, ${status}`),
        ],
      };
    }),
  );
}

/** @throws CommandError when no engine has a result */
function wantedOf(record: RenderRecord, engines: readonly Engine[] | undefined) {
  const wanted = record.engines.filter(({ engine }) => engines?.includes(engine) ?? true);
  const done = wanted.filter(({ output }) => output !== undefined).map(({ engine }) => engine);
  const open = wanted
    .filter(({ output }) => output === undefined)
    .map(({ engine, status }) => ({ engine, status }));
  if (done.length > 0) return { done, open };
  const hasEnded = !['accepted', 'processing'].includes(record.status);
  throw hasEnded
    ? new CommandError(
        `Nothing to save: render ${record.id} is ${record.status}, with no result from these engines.`,
        'failed',
        'Call explain_error with its id, or choose other engines.',
      )
    : new CommandError(
        `Render ${record.id} has no result yet.`,
        'later',
        `Call wait with ${record.id} first.`,
      );
}

/** @throws CommandError for what this server may not write or replace, before anything is downloaded */
async function planFiles(
  engines: readonly Engine[],
  id: string,
  to: string,
  overwrite: boolean,
  folders: Folders,
): Promise<PlannedFile[]> {
  const planned = planResults(engines, id, { out: await folders.resolve(to), force: true });
  for (const { path: file } of planned) {
    if (path.extname(file).toLowerCase() !== '.mp4')
      throw new CommandError(
        `${file} does not end in .mp4.`,
        'usage',
        'Results are MP4 files. For a folder that does not exist yet, end the path with a slash.',
      );
    if (!overwrite && (await lstat(file).catch(() => null)) !== null)
      throw new CommandError(
        `${file} already exists.`,
        'usage',
        'Choose another name with "to". Set overwrite to true only if the user wants it replaced.',
      );
  }
  return planned;
}
