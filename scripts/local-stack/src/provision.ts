import { writeFileSync } from 'node:fs';
import { newCustomer, newKey, type SecretContext } from '@lipsync/admin';
import { createDb, type LimitChanges } from '@lipsync/db';
import { migrate } from '@lipsync/prisma';
import { createSecretBox } from '@lipsync/runtime';
import { createStorage } from '@lipsync/storage';
import type { StackLayout } from './layout';
import { authorityFile, baseUrl, s3Endpoint } from './services';
import type { StackCustomer, StackState } from './state';

/** Two, so that isolation can be tried. */
const CUSTOMER_NAMES = ['local-one', 'local-two'];

/**
 * Sets up what the services expect: migrated tables, a bucket that pages of the api may use, two customers, the
 * authority file for egress.
 */
export async function provision(state: StackState, layout: StackLayout): Promise<void> {
  await migrate(state.servers.migrationUrl ?? state.servers.postgresUrl);
  if (state.s3.endpoint === undefined) await openToBrowsers(state);
  const { file, pem } = authorityFile(layout.root, state);
  writeFileSync(file, pem);
  for (const name of CUSTOMER_NAMES.slice(state.customers.length))
    state.customers.push(await provisionCustomer(state, name));
}

/** As `admin bucket cors` does. */
async function openToBrowsers(state: StackState): Promise<void> {
  const { accessKeyId, secretAccessKey, bucket } = state.s3;
  const storage = createStorage({
    endpoint: s3Endpoint(state),
    region: 'us-east-1',
    bucket,
    accessKeyId,
    secretAccessKey,
    forcePathStyle: true,
  });
  try {
    await storage.allowBrowsers([new URL(baseUrl(state)).origin]);
  } finally {
    storage.close();
  }
}

/** A customer of the local stack with a key and a signing secret; limits default to the service's. */
export async function provisionCustomer(
  state: StackState,
  name: string,
  limits: LimitChanges = {},
): Promise<StackCustomer> {
  const db = createDb({ url: state.servers.postgresUrl, poolMax: 1, publicBaseUrl: baseUrl(state) });
  try {
    const act = { actor: 'local stack', command: 'stack up' };
    return await newCustomerWithKey({ db, secretBox: createSecretBox(state.masterKey), act }, name, limits);
  } finally {
    await db.close();
  }
}

export async function newCustomerWithKey(
  context: SecretContext,
  name: string,
  limits: LimitChanges,
): Promise<StackCustomer> {
  const { customer, signingSecret } = await newCustomer(context, name, limits);
  const key = await newKey(context, customer.id);
  if (key === null) throw new Error('the new customer is gone');
  return { id: customer.id, api_key: key.apiKey, signing_secret: signingSecret };
}
