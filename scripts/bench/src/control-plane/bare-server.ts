import { createHash, randomUUID } from 'node:crypto';
import { validate } from '@lipsync/contract';
import express from 'express';
import { Pool } from 'pg';

/**
 * The baseline for the API, as a process of its own: the minimum that an Express service can do and still store what it
 * receives. POST hashes the key, validates the body against the contract and inserts one row; GET selects one row by
 * its primary key. No limits, no idempotency, no log, no jobs.
 */
const INSERT = {
  name: 'bare-insert',
  text: `INSERT INTO bare_renders (id, owner, request) VALUES ($1, $2, $3) RETURNING id, created_at`,
};
const SELECT = { name: 'bare-select', text: 'SELECT * FROM bare_renders WHERE id = $1' };

async function main(): Promise<void> {
  const keys = new Set((process.env['KEY_HASHES'] ?? '').split(','));
  const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
  await pool.query(`CREATE TABLE IF NOT EXISTS bare_renders (
    id text PRIMARY KEY, owner text NOT NULL, request jsonb NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`);

  const app = express();
  app.post('/v1/renders', express.json(), async (req, res) => {
    const key = req.headers.authorization?.slice('Bearer '.length) ?? '';
    const owner = createHash('sha256').update(key).digest('hex');
    if (!keys.has(owner)) return void res.status(401).json({ error: 'key' });
    const checked = validate('RenderRequest', req.body);
    if (!checked.ok) return void res.status(400).json({ error: checked.code });
    const { rows } = await pool.query<{ id: string; created_at: Date }>({
      ...INSERT,
      values: [randomUUID(), owner, JSON.stringify(req.body)],
    });
    res.status(202).json({ ...rows[0], status: 'accepted' });
  });
  app.get('/v1/renders/:id', async (req, res) => {
    const { rows } = await pool.query<object>({ ...SELECT, values: [req.params.id] });
    if (rows[0] === undefined) return void res.status(404).json({ error: 'id' });
    res.json(rows[0]);
  });
  const server = app.listen(0, '127.0.0.1', () => {
    const address = server.address();
    if (typeof address === 'object') process.send?.({ port: address?.port });
  });
}

void main();
