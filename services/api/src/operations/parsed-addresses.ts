import { type Input } from '@lipsync/contract';
import { parseMediaUrl, parseWebhookUrl } from '@lipsync/domain';

/**
 * URLs are stored as parsed and vetted, not as written, so that a host has the same name wherever it is used: in
 * fetches, in per-host counts and in TLS.
 *
 * @throws ServiceError invalid_media_url
 */
export function parsedInput(name: 'video' | 'audio', input: Input): Input {
  return 'url' in input ? { url: parseMediaUrl(input.url, `/${name}/url`).href } : input;
}

/** The same for the webhook URL. @throws ServiceError invalid_webhook_url */
export function parsedWebhook({ webhook_url: raw }: { webhook_url?: string }): { webhook_url?: string } {
  return raw === undefined ? {} : { webhook_url: parseWebhookUrl(raw, '/webhook_url').href };
}
