import { createLogger, type Logger } from '@lipsync/runtime';
import { eventually } from '@lipsync/testkit';
import { createDispatchLoop } from './dispatch-loop';

it('logs an outage of the database in two lines, however long it is', async () => {
  const lines: string[] = [];
  const note = (message: string): void => void lines.push(message);
  const logger: Logger = { ...createLogger({ service: 'test', level: 'silent' }), error: note, info: note };
  let claims = 0;
  let pass = (): void => undefined;
  const succeededTwice = new Promise<void>((resolve) => {
    pass = resolve;
  });
  const loop = createDispatchLoop<never>({
    slots: 1,
    pollMs: 1,
    claim: () => {
      claims += 1;
      if (claims <= 5) return Promise.reject(new Error('the database is away'));
      if (claims === 7) pass();
      return Promise.resolve([]);
    },
    deliver: () => Promise.resolve(),
    onTurn: () => undefined,
    logger,
  });
  loop.start();
  await succeededTwice;
  await loop.close();
  expect(lines).toEqual(['could not claim deliveries', 'deliveries can be claimed again']);
});

it('has at most as many deliveries in flight as slots, and closes when the last one has ended', async () => {
  const limits: number[] = [];
  const ends: (() => void)[] = [];
  const loop = createDispatchLoop<string>({
    slots: 2,
    pollMs: 1,
    claim: (limit) => {
      limits.push(limit);
      return Promise.resolve(Array<string>(limit).fill('delivery'));
    },
    deliver: () => new Promise((resolve) => ends.push(resolve)),
    onTurn: () => undefined,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
  loop.start();
  await eventually(() => expect(ends).toHaveLength(2));
  ends[0]?.();
  await eventually(() => expect(ends).toHaveLength(3));
  expect(limits).toEqual([2, 1]);
  let closed = false;
  const closing = loop.close().then(() => (closed = true));
  ends[1]?.();
  await anotherLoop();
  expect(closed).toBe(false);
  ends[2]?.();
  await closing;
});

describe('a rest of the loop', () => {
  // The loop rests on these timers alone, so that it never ends a rest by itself.
  beforeEach(() => jest.useFakeTimers({ doNotFake: ['Date', 'setImmediate', 'nextTick'] }));
  afterEach(() => jest.useRealTimers());
  const resting = (): Promise<void> => eventually(() => expect(jest.getTimerCount()).toBe(1));

  /** A loop whose first claim finds these deliveries and whose later ones find none. */
  function setUp(deliveries: string[], onClaim: (claim: number) => void = () => undefined) {
    let claims = 0;
    let endDelivery = (): void => undefined;
    const loop = createDispatchLoop<string>({
      slots: 2,
      pollMs: 100,
      claim: () => {
        onClaim(++claims);
        return Promise.resolve(claims === 1 ? deliveries : []);
      },
      deliver: () => new Promise((resolve) => (endDelivery = resolve)),
      onTurn: () => undefined,
      logger: createLogger({ service: 'test', level: 'silent' }),
    });
    return { loop, claims: () => claims, endDelivery: () => endDelivery() };
  }

  it('is left out when a delivery ends during the claim before it, which may have missed the room', async () => {
    const { loop, claims, endDelivery } = setUp(['delivery'], (claim) => claim === 2 && endDelivery());
    loop.start();
    await resting();
    expect(claims()).toBe(3);
    await loop.close();
  });

  it('ends when a delivery ends, and when the loop is closed', async () => {
    const { loop, claims, endDelivery } = setUp(['delivery']);
    loop.start();
    await resting();
    expect(claims()).toBe(2);
    endDelivery();
    await eventually(() => expect(claims()).toBe(3));
    await resting();
    const closing = loop.close();
    expect(jest.getTimerCount()).toBe(0);
    await closing;
  });

  it('does not begin once the loop is closed', async () => {
    const { loop, claims } = setUp([]);
    loop.start();
    await loop.close();
    expect(claims()).toBe(1);
  });
});

it('tells how long ago it last turned, by which its health is judged', async () => {
  const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
  const loop = loopWithNothingToDo();
  clock.mockReturnValue(70_000);
  loop.start();
  await loop.close();
  clock.mockReturnValue(71_000);
  expect(loop.sinceTurnMs()).toBe(1_000);
  clock.mockRestore();
});

/** Resolves later than every loop that had nothing left to do before this call. */
async function anotherLoop(): Promise<void> {
  const loop = loopWithNothingToDo();
  loop.start();
  await loop.close();
}

function loopWithNothingToDo() {
  return createDispatchLoop<never>({
    slots: 1,
    pollMs: 1,
    claim: () => Promise.resolve([]),
    deliver: () => Promise.resolve(),
    onTurn: () => undefined,
    logger: createLogger({ service: 'test', level: 'silent' }),
  });
}
