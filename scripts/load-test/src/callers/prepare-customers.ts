import { ASSET_STATES } from '@lipsync/domain';
import { createRandom } from '@lipsync/local-stack';
import { type Customer, type JourneyContext, JOURNEYS, type MediaFile, uploadMedia } from './journeys';
import { ask, type ServiceClient } from './service-client';

const READY_DEADLINE_MS = 120_000;
/** Number of renders that each customer has before the first caller arrives. */
const SEED_RENDERS = 3;

/**
 * Uploads a customer's media and waits until it is ready. @throws Error with the service's response if it does not get
 * there
 */
export async function prepareCustomer(
  index: number,
  client: ServiceClient,
  { video, audio }: { video: MediaFile; audio: MediaFile },
): Promise<Customer> {
  await expectAccess(client);
  const [videoAssetId, audioAssetId] = await Promise.all([
    readyAsset(client, video),
    readyAsset(client, audio),
  ]);
  return { index, client, media: { videoAssetId, audioAssetId }, recent: [] };
}

/** Creates and cancels some renders, for callers who fetch an existing one. */
export async function seedRenders(context: JourneyContext, customer: Customer): Promise<void> {
  const { streams, seed } = context.config;
  if (!streams.some(({ mix }) => (mix.get ?? 0) > 0 || (mix.replay ?? 0) > 0)) return;
  const random = createRandom(seed, `setup ${customer.index}`);
  for (let i = 0; i < SEED_RENDERS; i++) {
    const traveler = { customer, stream: { announces: false }, intendedAt: performance.now(), random };
    if (!(await JOURNEYS.create(context, traveler)))
      throw new Error(
        'the service refused the first create_render or its cancellation: see that its limits allow them',
      );
  }
}

async function expectAccess(client: ServiceClient): Promise<void> {
  const { outcome } = await client.call('get_render', {
    intendedAt: performance.now(),
    id: 'render_of_nobody',
    expected: ['render_not_found'],
  });
  if (outcome.class !== 'expected')
    throw new Error(
      `the target does not answer as the service does: ${[outcome.status, outcome.code].filter((part) => part !== null).join(' ')}`,
    );
}

async function readyAsset(client: ServiceClient, media: MediaFile): Promise<string> {
  const uploaded = await uploadMedia(client, media, performance.now());
  if (uploaded === null) throw new Error(`the upload of the ${media.request.media_type} was refused`);
  const { body } = await ask(
    client,
    performance.now() + READY_DEADLINE_MS,
    'get_asset',
    { id: uploaded.assetId },
    ({ status }) => ASSET_STATES.isTerminal(status),
  );
  if (body?.status !== 'ready')
    throw new Error(
      `the ${media.request.media_type} did not become ready: ${body?.error?.code ?? body?.status ?? 'no answer'}`,
    );
  return uploaded.assetId;
}
