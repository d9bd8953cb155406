import { holdJobLease, type JobLease, type JobProgress, LeaseLost } from './job-lease';

describe('lease of a running ingest', () => {
  let lease: JobLease;
  let sent: (JobProgress | undefined)[];
  let answer: boolean | Error;

  beforeEach(() => {
    jest.useFakeTimers();
    sent = [];
    answer = true;
    lease = holdJobLease({
      heartbeat: async (progress) => {
        sent.push(progress);
        if (answer instanceof Error) throw answer;
        return answer;
      },
      leaseMs: 15_000,
      clock: { now: () => Date.now() },
    });
  });

  afterEach(async () => {
    await lease.stop();
    jest.useRealTimers();
  });

  it('is renewed every three seconds without news', async () => {
    await jest.advanceTimersByTimeAsync(9_500);
    expect(sent).toEqual([undefined, undefined, undefined]);
  });

  it('tells only the newest progress, once a second', async () => {
    lease.report({ stage: 'downloading', progressPercent: 1 });
    lease.report({ stage: 'downloading', progressPercent: 2 });
    await jest.advanceTimersByTimeAsync(1_000);
    expect(sent).toEqual([{ stage: 'downloading', progressPercent: 2 }]);
  });

  it('is lost, and not asked for again, once the database refuses it', async () => {
    answer = false;
    await jest.advanceTimersByTimeAsync(10_000);
    expect(lease.signal.reason).toBeInstanceOf(LeaseLost);
    expect(sent).toHaveLength(1);
  });

  it('outlives a database that is away for less than the lease, and is lost when it is away for longer', async () => {
    answer = new Error('connection refused');
    await jest.advanceTimersByTimeAsync(14_000);
    expect(lease.signal.aborted).toBe(false);
    answer = true;
    await jest.advanceTimersByTimeAsync(1_000);
    answer = new Error('connection refused');
    await jest.advanceTimersByTimeAsync(14_000);
    expect(lease.signal.aborted).toBe(false);
    await jest.advanceTimersByTimeAsync(4_000);
    expect(lease.signal.reason).toBeInstanceOf(LeaseLost);
  });
});
