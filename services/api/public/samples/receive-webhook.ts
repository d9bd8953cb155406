// installed as /docs/typescript says
import { verifyWebhook, WebhookVerificationError } from '@lipsync/client';

/** Two while a signing secret is being replaced. */
const secrets = () => (process.env['LIPSYNC_WEBHOOK_SECRET'] ?? '').split(',');
/** Yours is a table with the event's id as its key. */
const seen = new Set<string>();

/** For Next.js, Hono, Bun, Deno and workers, which all pass a Request and take a Response. */
export async function receiveWebhook(request: Request): Promise<Response> {
  try {
    // The body as it comes: bytes that went through a JSON parser no longer match. At most 1 MiB of it is read.
    const event = await verifyWebhook(request.body, request.headers, secrets());
    if (!seen.has(event.id)) console.log(event.type, event.id);
    seen.add(event.id);
    return new Response(null, { status: 204 });
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error;
    return new Response(error.reason, { status: 400 });
  }
}
