import { createDb, type Db, getSecret, rotateSecret } from '@lipsync/db';
import { createSecretBox } from '@lipsync/runtime';
import {
  createFactories,
  createTestDatabase,
  type Factories,
  TEST_ACT,
  type TestDatabase,
} from '@lipsync/testkit';
import { newCustomer } from './customers';
import { resealSecrets } from './master-key';

const [OLD_KEY, NEW_KEY, LOST_KEY] = ['0f', '1e', '2d'].map((byte) => byte.repeat(32)) as [
  string,
  string,
  string,
];

describe('resealSecrets', () => {
  let database: TestDatabase;
  let db: Db;
  let make: Factories;
  beforeAll(async () => {
    database = await createTestDatabase();
    db = createDb({ url: database.url, poolMax: 2, publicBaseUrl: 'https://api.example.com' });
    make = createFactories(database.url);
  });
  beforeEach(() => make.query('DELETE FROM webhook_secrets'));
  afterAll(async () => {
    await make.close();
    await db.close();
    await database.drop();
  });

  const act = { actor: 'test', command: 'test' };
  const under = (key: string, previous?: string) => ({ db, secretBox: createSecretBox(key, previous), act });
  const opened = async (customerId: string, key: string): Promise<string> => {
    const ciphertext = await getSecret(db, customerId);
    if (ciphertext === null) throw new Error('no such customer');
    return createSecretBox(key).open(ciphertext, customerId);
  };

  it('moves every secret to the present key, including retired ones, and then has nothing left to do', async () => {
    const first = await newCustomer(under(OLD_KEY), 'first');
    const second = await newCustomer(under(OLD_KEY), 'second');
    await rotateSecret(
      db,
      TEST_ACT,
      second.customer.id,
      createSecretBox(OLD_KEY).seal('next', second.customer.id),
    );
    const later = await newCustomer(under(NEW_KEY, OLD_KEY), 'made during the change');

    expect(await resealSecrets(under(NEW_KEY, OLD_KEY))).toEqual({ resealed: 3, current: 1, unreadable: [] });
    expect(await opened(first.customer.id, NEW_KEY)).toBe(first.signingSecret);
    expect(await opened(second.customer.id, NEW_KEY)).toBe('next');
    expect(await opened(later.customer.id, NEW_KEY)).toBe(later.signingSecret);
    expect(await resealSecrets(under(NEW_KEY))).toEqual({ resealed: 0, current: 4, unreadable: [] });
  });

  it('reports secrets that neither key opens, leaves them unchanged and goes on', async () => {
    const lost = await newCustomer(under(LOST_KEY), 'lost');
    const kept = await newCustomer(under(OLD_KEY), 'kept');
    const [{ id } = { id: '' }] = await make.query<{ id: string }>(
      'SELECT id FROM webhook_secrets WHERE customer_id = $1',
      [lost.customer.id],
    );
    expect(await resealSecrets(under(NEW_KEY, OLD_KEY))).toEqual({
      resealed: 1,
      current: 0,
      unreadable: [id],
    });
    expect(await opened(kept.customer.id, NEW_KEY)).toBe(kept.signingSecret);
    expect(await opened(lost.customer.id, LOST_KEY)).toBe(lost.signingSecret);
  });
});
