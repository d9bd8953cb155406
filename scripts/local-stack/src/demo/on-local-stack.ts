import path from 'node:path';
import { createStack, writeDescription } from '../local-stack';
import { provisionCustomer } from '../provision';
import { joinStack } from '../shared-use';
import { createApiClient } from './api-client';
import { type DemoOptions, requestOf } from './demo-options';
import { type EventReceiver, startEventReceiver } from './event-receiver';
import { untilInterrupted } from './interrupted';
import type { ShowProgress } from './progress-line';
import { renderFiles, type RenderFilesResult } from './render-files';

/**
 * Starts the system unless it is running, renders as a new customer, and restores the previous state in every case; when
 * other demos are using the system, the last of them does.
 */
export async function renderOnLocalStack(
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
