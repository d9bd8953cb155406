import { Client } from 'pg';
import { createTestDatabase } from './postgres';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('createTestDatabase', () => {
  it('gives each caller a separate migrated and empty database', async () => {
    const [first, second] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await query(first.url, `INSERT INTO customers (id, name) VALUES ('cus_1', 'first')`);
    expect(await query(first.url, 'SELECT id FROM customers')).toEqual([{ id: 'cus_1' }]);
    expect(await query(second.url, 'SELECT id FROM customers')).toEqual([]);
    await Promise.all([first.drop(), second.drop()]);
    await expect(query(first.url, 'SELECT 1')).rejects.toThrow('does not exist');
  });
});
