import { cancelRender, claimJob, completeRender } from '@lipsync/db';
import { openOperator, type Operator } from '../test/operator';

const PRICE_LIST = '{"currency":"EUR","per_minute":{"musetalk":0.2}}';

describe('admin usage', () => {
  let operator: Operator;
  let customerId: string;
  let month: string;
  beforeAll(async () => {
    operator = await openOperator({ PRICE_LIST });
    customerId = await operator.make.customer();
    await operator.make.query(`UPDATE customers SET name = '=A "loud", customer' WHERE id = $1`, [
      customerId,
    ]);
    const id = await operator.render(customerId, { engines: ['musetalk', 'highsync'] });
    const jobs = await operator.make.query<{ id: string }>(
      `SELECT jobs.id FROM jobs JOIN engine_runs ON engine_runs.id = engine_run_id WHERE render_id = $1 ORDER BY position`,
      [id],
    );
    const claim = await claimJob(operator.db, jobs[0]?.id ?? '', { workerId: 'w', leaseSeconds: 30 });
    if (claim === null) throw new Error('not claimed');
    const usage = {
      input_video_seconds: 45.1,
      input_audio_seconds: 30.04,
      output_seconds: 30.04,
      rendered_frames: 751,
      gpu_inference_seconds: 12.3456,
      estimated_compute_usd: null,
    };
    await completeRender(operator.db, claim, { outputKey: 'outputs/x', usage });
    await cancelRender(operator.db, customerId, id);
    // A run that ended long ago.
    await operator.make.query(
      `INSERT INTO run_usage (id, render_id, customer_id, engine, outcome, finished_at, output_seconds, cost_usd)
       VALUES ('run_1', 'ren_1', $1, 'musetalk', 'completed', '2026-01-31T23:59:59Z', 60, 0.25)`,
      [customerId],
    );
    const [ended] = await operator.make.query<{ month: string }>(
      `SELECT to_char(max(finished_at) AT TIME ZONE 'UTC', 'YYYY-MM') AS month FROM run_usage`,
    );
    month = ended?.month ?? '';
  });
  afterAll(() => operator.close());

  it('shows what a customer used by month and engine, and what the price list makes of it', async () => {
    const shown = await operator.json<object[]>('usage', '--customer', customerId);
    expect(shown).toMatchObject([
      {
        month: '2026-01',
        engine: 'musetalk',
        completed: 1,
        cost_usd: 0.25,
        runs_with_cost: 1,
        list_price: 0.2,
      },
      { month, engine: 'highsync', completed: 0, cancelled: 1, output_seconds: null, list_price: null },
      {
        month,
        customer_id: customerId,
        engine: 'musetalk',
        completed: 1,
        failed: 0,
        cancelled: 0,
        input_video_seconds: 45.1,
        input_audio_seconds: 30.04,
        output_seconds: 30.04,
        frames: 751,
        gpu_seconds: 12.346,
        cost_usd: null,
        runs_with_cost: 0,
        list_price: 0.100133,
        currency: 'EUR',
      },
    ]);
    expect(await operator.json('usage', '--month', '2026-01')).toHaveLength(1);
    expect(await operator.json('usage', '--month', '2025-12')).toEqual([]);
  });

  it('writes CSV that quotes names, and gives no spreadsheet a formula', async () => {
    const { stdout } = await operator.run('usage', '--month', '2026-01', '--csv');
    expect(stdout).toBe(
      'month,customer_id,customer_name,engine,completed,failed,cancelled,input_video_seconds,input_audio_seconds,' +
        'output_seconds,frames,gpu_seconds,cost_usd,runs_with_cost,list_price,currency\r\n' +
        `2026-01,${customerId},"'=A ""loud"", customer",musetalk,1,0,0,,,60,,,0.25,1,0.2,EUR\r\n`,
    );
  });

  it('lists the runs of a month by the ids that their customers know', async () => {
    const { stdout } = await operator.run('usage', '--runs', '--month', '2026-01', '--csv');
    expect(stdout.split('\r\n')[1]).toBe(
      `2026-01-31T23:59:59.000Z,${customerId},ren_1,musetalk,completed,,,60,,,0.25`,
    );
    expect(await operator.json('usage', '--runs', '--month', month)).toMatchObject([
      { engine: 'musetalk', outcome: 'completed', frames: 751 },
      { engine: 'highsync', outcome: 'cancelled', frames: null },
    ]);
  });

  it('prints people a table that has room on a terminal', async () => {
    const { stdout } = await operator.run('usage', '--month', '2026-01');
    const [head = '', row = ''] = stdout.split('\n');
    expect(head).toMatch(
      /^month +customer_id +engine +completed +failed +cancelled +output_seconds +frames +gpu_s/,
    );
    expect(row).toMatch(
      new RegExp(`^2026-01 +${customerId} +musetalk +1 +0 +0 +60 +- +- +0\\.25 +0\\.2 +EUR$`),
    );
    expect(row.length).toBeLessThan(150);
  });

  it.each([
    [['--runs'], '--runs needs --month'],
    [['--customer', 'cus_nobody'], 'there is no customer cus_nobody'],
  ])('refuses %j with the reason', async (args, reason) => {
    const { exitCode, stdout, stderr } = await operator.run('usage', ...args);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(reason);
  });
});
