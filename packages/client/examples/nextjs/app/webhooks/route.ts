import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { verifyWebhook, WebhookVerificationError } from '@lipsync/client';
import { after } from 'next/server';
import { ENGINE, lipsync, resultPath } from '../../lib/lipsync';

export async function POST(request: Request): Promise<Response> {
  try {
    const event = await verifyWebhook(
      request.body,
      request.headers,
      process.env.LIPSYNC_WEBHOOK_SECRET ?? '',
    );
    // An event that arrives twice keeps the same file twice.
    if (event.type === 'render.completed') after(() => keepResult(event.data.id));
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return new Response(error.reason, { status: 400 });
  }
}

async function keepResult(id: string): Promise<void> {
  await mkdir(path.dirname(resultPath(id)), { recursive: true });
  await lipsync().outputs.download(id, ENGINE, resultPath(id));
}
