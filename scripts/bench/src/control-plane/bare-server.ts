import express from 'express';
import { Pool } from 'pg';

/**
 * The baseline for a get, as a process of its own: the minimum that an Express service does to answer with a row, which
 * is to select it by its primary key. No authentication, no limits, no log.
 */
const SELECT = { name: 'bare-select', text: 'SELECT * FROM bare_renders WHERE id = $1' };

const pool = new Pool({ connectionString: process.env['DATABASE_URL'], max: 10 });
const app = express();
app.get('/v1/renders/:id', async (req, res) => {
  const { rows } = await pool.query<object>({ ...SELECT, values: [req.params.id] });
  if (rows[0] === undefined) return void res.status(404).json({ error: 'id' });
  res.json(rows[0]);
});
app.get('/healthz', (_req, res) => void res.sendStatus(200));
app.listen(Number(process.env['PORT']), '127.0.0.1');
