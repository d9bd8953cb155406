import { type Input } from '@lipsync/contract';
import { parseMediaUrl, parseWebhookUrl } from '@lipsync/domain';

/**
 * What is stored is the address as it was parsed and vetted, not as it was written: one host has one name, whoever
 * fetches from it, counts by it or shows it to TLS.
 *
 * @throws ServiceError invalid_media_url
 */
export function parsedInput(name: 'video' | 'audio', input: Input): Input {
  return 'url' in input ? { url: parseMediaUrl(input.url, `/${name}/url`).href } : input;
}

/** The same for where events go. @throws ServiceError invalid_webhook_url */
export function parsedWebhook({ webhook_url: raw }: { webhook_url?: string }): { webhook_url?: string } {
  return raw === undefined ? {} : { webhook_url: parseWebhookUrl(raw, '/webhook_url').href };
}
