import { isIPv6 } from 'node:net';
import { ApiError } from '@lipsync/client';
import { type ErrorCode } from '@lipsync/contract';
import { eventually, REFUSED_ADDRESSES, REFUSED_URLS } from '@lipsync/testkit';
import { MEDIA_HOST, redirectTo } from './origins';
import { type CorpusResult, createTally, endOf, type TestBed } from './test-bed';

/** Where a redirect must not lead to, beside the refused addresses. */
const LOCATIONS = [
  'https://169.254.169.254/latest/meta-data',
  'https://localhost/video.mp4',
  `http://${MEDIA_HOST}/secret.mp4`,
  `https://${MEDIA_HOST}:8443/secret.mp4`,
  `https://user:password@${MEDIA_HOST}/secret.mp4`,
  'file:///etc/passwd',
];

const PUBLIC = { url: `https://${MEDIA_HOST}/missing.mp4` };

/**
 * Names addresses that must not be reached in every place that takes one, and behind redirects. Nothing may connect to
 * them. Names that resolve to such addresses, and that change their answer, need a name server: see
 * packages/runtime/src/egress/egress.integration.test.ts.
 */
export async function tryAddresses(bed: TestBed): Promise<CorpusResult> {
  const { api } = bed.attacker;
  const { result, expectOutcome } = createTally();
  const render = { video: PUBLIC, audio: PUBLIC, engines: ['musetalk' as const], sync_mode: 'loop' as const };
  const places: readonly (readonly [
    place: string,
    code: ErrorCode,
    create: (url: string) => Promise<unknown>,
  ])[] = [
    ['an asset', 'invalid_media_url', (url) => api.assets.create({ url, media_type: 'video' })],
    ['the video', 'invalid_media_url', (url) => api.renders.create({ ...render, video: { url } })],
    ['the audio', 'invalid_media_url', (url) => api.renders.create({ ...render, audio: { url } })],
    ['a preparation', 'invalid_media_url', (url) => api.preparations.create({ video: { url } })],
    ['a webhook', 'invalid_webhook_url', (url) => api.renders.create({ ...render, webhook_url: url })],
  ];
  const hosts = REFUSED_ADDRESSES.map((address) => (isIPv6(address) ? `[${address}]` : address));
  const literals = hosts.flatMap((host) => [`https://${host}/`, `https://${host}:${bed.canaryPort}/`]);
  for (const url of [...literals, ...REFUSED_URLS]) {
    await Promise.all(
      places.map(async ([place, code, create]) => {
        const outcome = await create(url).then(
          () => 'accepted',
          (error: unknown) => (error instanceof ApiError ? error.code : String(error)),
        );
        expectOutcome(`${url} for ${place}`, outcome, [code]);
      }),
    );
  }
  await Promise.all(
    [...literals, ...LOCATIONS].map(redirectTo).map(async (path) => {
      const { id } = await eventually(() =>
        api.assets.create({ url: `https://${MEDIA_HOST}${path}`, media_type: 'video' }),
      );
      expectOutcome(path, await endOf(() => api.assets.get(id)), ['media_url_not_allowed']);
    }),
  );
  return result;
}
