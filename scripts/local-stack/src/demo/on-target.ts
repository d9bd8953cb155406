import { createApiClient } from './api-client';
import { type DemoOptions, requestOf } from './demo-options';
import type { ShowProgress } from './progress-line';
import { renderFiles, type RenderFilesResult } from './render-files';

/**
 * Renders on a remote service. Requests no webhook, which could not reach this machine: it has no public HTTPS address.
 */
export async function renderOnTarget(
  options: DemoOptions & { target: string },
  { say, show }: { say: (line: string) => void; show: ShowProgress },
): Promise<RenderFilesResult> {
  const apiKey = options.key ?? process.env['LIPSYNC_API_KEY'];
  if (apiKey === undefined) throw new Error('--target needs --key, or LIPSYNC_API_KEY in the environment');
  const request = requestOf(options);
  say(`Uploading ${options.video} and ${options.audio} to ${options.target}, rendering …`);
  return renderFiles(request, { api: createApiClient({ baseUrl: options.target, apiKey }), show });
}
