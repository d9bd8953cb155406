import { createLeaseKeeper, type LeaseKeeper, LeaseLost, type Progress } from './lease-keeper';

function setUp({ claimedAt = 0 } = {}): {
  keeper: LeaseKeeper;
  sent: (Progress | undefined)[];
  at: (ms: number) => Promise<void>;
  answer: (with_: boolean | Error) => void;
} {
  let now = 0;
  let answer: boolean | Error = true;
  const sent: (Progress | undefined)[] = [];
  const keeper = createLeaseKeeper({
    heartbeat: async (progress) => {
      sent.push(progress);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    leaseMs: 15_000,
    claimedAt,
    clock: { now: () => now },
  });
  return {
    keeper,
    sent,
    at: async (ms) => {
      now = ms;
      keeper.tick();
      for (let i = 0; i < 5; i++) await Promise.resolve();
    },
    answer: (with_) => (answer = with_),
  };
}

describe('lease keeper', () => {
  test('without progress the lease is renewed every three seconds', async () => {
    const { sent, at } = setUp();
    for (let ms = 0; ms <= 9_000; ms += 500) await at(ms);
    expect(sent).toHaveLength(3);
  });

  test('progress is written at most once a second, and only the latest', async () => {
    const { keeper, sent, at } = setUp();
    keeper.report('inferencing', 1);
    await at(0);
    for (let ms = 100; ms <= 2_000; ms += 100) {
      keeper.report('inferencing', ms / 100);
      await at(ms);
    }
    expect(sent).toEqual([
      { stage: 'inferencing', percent: 1 },
      { stage: 'inferencing', percent: 10 },
      { stage: 'inferencing', percent: 20 },
    ]);
  });

  test('a new stage is written at once', async () => {
    const { keeper, sent, at } = setUp();
    keeper.report('inferencing', 90);
    await at(0);
    keeper.report('encoding', 91);
    await at(50);
    expect(sent.map((progress) => progress?.stage)).toEqual(['inferencing', 'encoding']);
  });

  test('the percentage never falls within a stage', async () => {
    const { keeper, sent, at } = setUp();
    keeper.report('inferencing', 60);
    keeper.report('inferencing', 40);
    await at(1_000);
    expect(sent).toEqual([{ stage: 'inferencing', percent: 60 }]);
  });

  test('a refused heartbeat stops the job, and nothing is written after it', async () => {
    const { keeper, sent, at, answer } = setUp();
    answer(false);
    await at(3_000);
    expect(keeper.signal.reason).toEqual(new LeaseLost('refused'));
    await at(9_000);
    expect(sent).toHaveLength(1);
  });

  test('a cancel hint triggers a check at once instead of at the next heartbeat', async () => {
    const { keeper, sent, answer } = setUp();
    answer(false);
    keeper.checkNow();
    await keeper.stop();
    expect(sent).toHaveLength(1);
    expect(keeper.signal.aborted).toBe(true);
  });

  test('a database outage shorter than the lease does not stop the job', async () => {
    const { keeper, at, answer } = setUp();
    answer(new Error('connection refused'));
    for (let ms = 500; ms < 14_000; ms += 500) await at(ms);
    expect(keeper.signal.aborted).toBe(false);
    answer(true);
    await at(14_500);
    answer(new Error('connection refused'));
    await at(20_000);
    expect(keeper.signal.aborted).toBe(false);
  });

  test('a database outage as long as the lease stops the job, because another worker may have it', async () => {
    const { keeper, at, answer } = setUp();
    const cause = new Error('connection refused');
    answer(cause);
    for (let ms = 500; ms <= 15_000; ms += 500) await at(ms);
    expect(keeper.signal.reason).toEqual(new LeaseLost('expired', { cause }));
    expect(keeper.signal.reason).toHaveProperty('cause', cause);
  });

  test('a claim that was confirmed late holds only from when it was asked for, and is renewed at once', async () => {
    const { keeper, sent, at, answer } = setUp({ claimedAt: -9_000 });
    answer(new Error('connection refused'));
    await at(0);
    expect(sent).toHaveLength(1);
    await at(5_999);
    expect(keeper.signal.aborted).toBe(false);
    await at(6_000);
    expect(keeper.signal.aborted).toBe(true);
  });

  test('a database that hangs does not keep the job alive past its lease', async () => {
    let now = 0;
    const keeper = createLeaseKeeper({
      heartbeat: () => new Promise(() => undefined),
      leaseMs: 15_000,
      claimedAt: 0,
      clock: { now: () => now },
    });
    for (; now <= 15_000; now += 500) keeper.tick();
    expect(keeper.signal.reason).toEqual(new LeaseLost('expired'));
  });

  test('a renewal that is confirmed late extends the lease only from when it was sent', async () => {
    let now = 0;
    let confirm: (held: boolean) => void = () => undefined;
    const keeper = createLeaseKeeper({
      heartbeat: () => new Promise((resolve) => (confirm = resolve)),
      leaseMs: 15_000,
      claimedAt: 0,
      clock: { now: () => now },
    });
    const at = async (ms: number): Promise<void> => {
      now = ms;
      keeper.tick();
      for (let i = 0; i < 5; i++) await Promise.resolve();
    };
    await at(3_000);
    confirm(true);
    await at(10_000);
    await at(17_999);
    expect(keeper.signal.aborted).toBe(false);
    await at(18_000);
    expect(keeper.signal.reason).toEqual(new LeaseLost('expired'));
  });

  test('during a database outage a new stage is tried once a second, like everything else', async () => {
    const { keeper, sent, at, answer } = setUp();
    answer(new Error('connection refused'));
    keeper.report('encoding', 1);
    for (let ms = 0; ms <= 3_000; ms += 250) await at(ms);
    expect(sent).toHaveLength(4);
  });

  test('once stopped, no heartbeat is sent, although the lease goes on', async () => {
    const { keeper, sent, at } = setUp();
    await keeper.stop();
    keeper.checkNow();
    await at(9_000);
    expect(keeper.signal.aborted).toBe(false);
    // A heartbeat without progress is undefined here, which toEqual would ignore.
    expect(sent).toHaveLength(0);
  });
});
