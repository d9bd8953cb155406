import { claimJob, failJob, retryJob } from '@lipsync/db';
import { openOperator, type Operator } from '../test/operator';

interface Shown {
  id: string;
  customer_id: string;
  customer_name: string;
  status: string;
  error_code: string | null;
  inputs: { asset_id: string; media_type: string; status: string; source: string }[];
  engines: {
    engine: string;
    status: string;
    progress_percent: number;
    error_code: string | null;
    error_detail: string | null;
  }[];
  jobs: {
    job_id: string;
    of: string;
    status: string;
    attempts: number;
    last_error: string | null;
    worker_id: string | null;
  }[];
}

let operator: Operator;
let customerId: string;
beforeAll(async () => {
  operator = await openOperator();
  customerId = await operator.make.customer();
});
afterAll(() => operator.close());

describe('admin renders show', () => {
  const show = (id: string): Promise<Shown> => operator.json<Shown>('renders', 'show', id);

  async function claim(jobId: string | undefined) {
    const claimed = await claimJob(operator.db, jobId ?? '', { workerId: 'gpu-7-x', leaseSeconds: 30 });
    if (claimed === null) throw new Error('not claimed');
    return claimed;
  }

  it('says what a render that has not begun is waiting for, in order', async () => {
    const video = { url: 'https://media.example.com/private/face.mp4?X-Amz-Signature=of-the-customer' };
    const id = await operator.render(customerId, { video, engines: ['latentsync', 'musetalk'] });
    const shown = await show(id);
    expect(shown).toMatchObject({ id, customer_id: customerId, status: 'accepted', error_code: null });
    expect(shown.customer_name).toBe('A customer');
    expect(shown.inputs).toMatchObject([
      { media_type: 'video', status: 'pending', source: 'https://media.example.com' },
      { media_type: 'audio', status: 'ready', source: 'upload' },
    ]);
    expect(shown.engines).toMatchObject([
      { engine: 'latentsync', status: 'accepted', progress_percent: 0 },
      { engine: 'musetalk', status: 'accepted', progress_percent: 0 },
    ]);
    expect(shown.jobs).toMatchObject([
      { of: 'video', status: 'queued', attempts: 0 },
      { of: 'latentsync', status: 'blocked', attempts: 0 },
      { of: 'musetalk', status: 'blocked', attempts: 0 },
    ]);
  });

  it('says which worker has it, and what an attempt failed with', async () => {
    const id = await operator.render(customerId, { engines: ['musetalk', 'highsync'] });
    const [first, second] = (await show(id)).jobs;
    const lease = await claim(first?.job_id);
    const failure = { errorCode: 'storage_failed', delaySeconds: 20, refundAttempt: false } as const;
    await retryJob(operator.db, lease, failure);
    await claim(second?.job_id);
    const { status, jobs } = await show(id);
    expect(status).toBe('processing');
    expect(jobs).toMatchObject([
      { of: 'musetalk', status: 'queued', attempts: 1, last_error: 'storage_failed', worker_id: null },
      { of: 'highsync', status: 'running', attempts: 1, last_error: null, worker_id: 'gpu-7-x' },
    ]);
  });

  it('shows the error of the input that made the render fail, even after the render has expired', async () => {
    const id = await operator.render(customerId, { audio: { url: 'https://media.example.com/a.wav' } });
    const ingest = (await show(id)).jobs.find(({ of }) => of === 'audio');
    await failJob(operator.db, await claim(ingest?.job_id), 'media_corrupt', 'No sound decodes.');
    await operator.make.query('UPDATE renders SET expires_at = now() WHERE id = $1', [id]);
    const shown = await show(id);
    expect(shown).toMatchObject({ status: 'failed', error_code: 'media_corrupt' });
    expect(shown.engines).toMatchObject([
      { status: 'failed', error_code: 'media_corrupt', error_detail: 'No sound decodes.' },
    ]);
    expect(shown.jobs).toMatchObject([
      { of: 'audio', status: 'finished', last_error: 'media_corrupt', worker_id: 'gpu-7-x' },
      { of: 'musetalk', status: 'finished', attempts: 0 },
    ]);
  });

  it("prints aligned text for people, in which a customer's URL is reduced to its origin", async () => {
    const video = { url: 'https://media.example.com/private/face.mp4?X-Amz-Signature=of-the-customer' };
    const id = await operator.render(customerId, { video });
    const { stdout, stderr, exitCode } = await operator.run('renders', 'show', id);
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
    expect(stdout).toMatch(new RegExp(`^id {19}${id}\ncustomer_id {10}${customerId}\n`));
    expect(stdout).toMatch(
      /\n\ninputs\nasset_id +media_type +status +stage +error_code +error_detail +source\nast_/,
    );
    expect(stdout).toMatch(
      /\n\nengines\nengine +run_id +status +stage +progress_percent +error_code +error_detail\nmuset/,
    );
    expect(stdout).toMatch(
      /\njob_id +of +status +attempts +last_error +available_at +lease_until +worker_id\n/,
    );
    expect(stdout).toContain('https://media.example.com\n');
    expect(stdout).not.toMatch(/private|Signature|of-the-customer/);
  });

  it.each(['ren_00000000000000000000000000', 'ren_none', 'job_none'])(
    'fails with one sentence for %s that does not exist',
    async (id) => {
      const stderr = `admin: there is no render ${id}\n`;
      expect(await operator.run('renders', 'show', id)).toEqual({ exitCode: 1, stdout: '', stderr });
    },
  );
});

describe('admin renders list', () => {
  const list = async (...args: string[]) =>
    (await operator.json<{ id: string }[]>('renders', 'list', ...args)).map(({ id }) => id);

  it('shows those of a customer and of some states, the newest first', async () => {
    const own = await operator.make.customer();
    const [first, second] = [await operator.render(own), await operator.render(own)];
    await operator.json('renders', 'cancel', first);
    expect(await list('--customer', own)).toEqual([second, first]);
    expect(await list('--customer', own, '--state', 'accepted', 'processing')).toEqual([second]);
    expect(await list('--customer', own, '--state', 'cancelled')).toEqual([first]);
    expect(await list('--state', 'accepted')).toContain(second);
    expect((await operator.run('renders', 'list', '--customer', own)).stdout).toMatch(
      /^id +customer_id +status +stage +engines +error_code +created_at +completed_at\nren_/,
    );
  });

  it('finds what was made of a video or sound, by its digest', async () => {
    const sha256 = 'a7'.repeat(32);
    const own = await operator.make.customer();
    const asset = (mediaType: 'video' | 'audio') =>
      operator.make.readyAsset({ customerId: own, mediaType, sha256 });
    const ofVideo = await operator.render(own, { video: { asset_id: await asset('video') } });
    const ofAudio = await operator.render(own, { audio: { asset_id: await asset('audio') } });
    await operator.render(own);
    expect(await list('--source', sha256.toUpperCase())).toEqual([ofAudio, ofVideo]);
    expect(await list('--source', 'b8'.repeat(32))).toEqual([]);
  });

  it('says how many it leaves out', async () => {
    const own = await operator.make.customer();
    const id = await operator.render(own);
    await operator.make.query(
      `INSERT INTO renders (id, customer_id, status, stage, video_asset_id, audio_asset_id, sync_mode, updated_at, expires_at)
       SELECT 'ren_0' || n, customer_id, status, stage, video_asset_id, audio_asset_id, sync_mode, now(), now()
       FROM renders, generate_series(1, 101) AS n WHERE id = $1`,
      [id],
    );
    const { stdout, stderr } = await operator.run('renders', 'list', '--customer', own);
    expect(stdout.trimEnd().split('\n')).toHaveLength(101);
    expect(stderr).toBe('admin: 2 older ones are not shown\n');
  });
});

describe('admin renders cancel', () => {
  const statusOf = async (id: string) =>
    (await operator.json<{ status: string }>('renders', 'show', id)).status;

  it('cancels one, and again without harm, but none that has finished', async () => {
    const [id, other] = [await operator.render(customerId), await operator.render(customerId)];
    const cancelled = { id, customer_id: customerId, status: 'cancelled' };
    for (let time = 0; time < 2; time += 1)
      expect(await operator.json('renders', 'cancel', id)).toEqual(cancelled);
    expect(await statusOf(other)).toBe('accepted');
    await operator.make.query(
      `UPDATE renders SET status = 'completed', stage = 'completed', progress_percent = 100, completed_at = now() WHERE id = $1`,
      [other],
    );
    const { exitCode, stderr } = await operator.run('renders', 'cancel', other);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('this one has finished');
  });

  it("cancels all of a customer's, and nobody else's", async () => {
    const [own, other] = [await operator.make.customer(), await operator.make.customer()];
    const ids = [await operator.render(own), await operator.render(own)];
    const foreign = await operator.render(other);
    expect(await operator.json('renders', 'cancel', '--customer', own)).toEqual({ cancelled: 2 });
    for (const id of ids) expect(await statusOf(id)).toBe('cancelled');
    expect(await statusOf(foreign)).toBe('accepted');
  });
});
