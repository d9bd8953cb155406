import { createLogger, type Logger } from '@lipsync/runtime';
import { eventually } from '@lipsync/testkit';
import { createEnqueuer } from './enqueue';

const logger = createLogger({ service: 'test', level: 'silent' });
const messages = [
  { jobId: 'job_a', enqueueSeq: 1 },
  { jobId: 'job_b', enqueueSeq: 4 },
];
const choose = async () => messages;

describe('enqueueing', () => {
  it('adds the other messages when one cannot be added', async () => {
    const added: string[] = [];
    const add = async (_queue: string, { jobId }: { jobId: string }): Promise<void> => {
      if (jobId === 'job_a') throw new Error('redis is away');
      added.push(jobId);
    };
    await createEnqueuer({ choose, add, logger }).enqueue('media');
    expect(added).toEqual(['job_b']);
  });

  it('logs an outage once for each queue, and once that it is over', async () => {
    const logged: unknown[] = [];
    const log = (message: string, { queue }: { queue: string }) => void logged.push(`${queue}: ${message}`);
    let isAway = true;
    const { enqueue } = createEnqueuer({
      choose: async (queue: string) => {
        if (isAway && queue !== 'media') throw new Error('database is away');
        return messages;
      },
      add: async () => undefined,
      logger: { warn: log, info: log } as unknown as Logger,
    });
    const round = async () => {
      for (const queue of ['media', 'musetalk', 'highsync']) await enqueue(queue);
    };
    await round();
    await round();
    const begun = ['musetalk: not all jobs were enqueued', 'highsync: not all jobs were enqueued'];
    expect(logged).toEqual(begun);
    isAway = false;
    await round();
    await round();
    expect(logged).toEqual([
      ...begun,
      'musetalk: jobs are enqueued again',
      'highsync: jobs are enqueued again',
    ]);
  });
});

describe('enqueueing soon', () => {
  /** Each choice lasts until it is released. */
  function setUp() {
    const chosen: string[] = [];
    let end = (): void => undefined;
    const { enqueueSoon, idle } = createEnqueuer({
      choose: (queue: string) => {
        chosen.push(queue);
        return new Promise<[]>((resolve) => (end = () => resolve([])));
      },
      add: async () => undefined,
      pauseMs: 0,
      logger,
    });
    return { enqueueSoon, idle, chosen, release: () => end() };
  }

  it('chooses once, not once each, for all that was created during a choice', async () => {
    const { enqueueSoon, idle, chosen, release } = setUp();
    enqueueSoon(['media']);
    enqueueSoon(['media', 'media']);
    enqueueSoon(['media']);
    expect(chosen).toEqual(['media']);
    release();
    await eventually(() => expect(chosen).toEqual(['media', 'media']));
    release();
    await idle();
    expect(chosen).toEqual(['media', 'media']);
  });

  it('chooses for one queue at a time, however long it takes and whatever is created meanwhile', async () => {
    const { enqueueSoon, idle, chosen, release } = setUp();
    for (let i = 0; i < 3; i += 1) enqueueSoon(['media', 'musetalk']);
    expect(chosen).toEqual(['media']);
    release();
    await eventually(() => expect(chosen).toEqual(['media', 'musetalk']));
    enqueueSoon(['media']);
    expect(chosen).toHaveLength(2);
    release();
    await eventually(() => expect(chosen).toEqual(['media', 'musetalk', 'media']));
    release();
    await idle();
    enqueueSoon([]);
    enqueueSoon(['latentsync']);
    expect(chosen.at(-1)).toBe('latentsync');
    release();
    await idle();
  });

  it('goes on after a failure', async () => {
    let choices = 0;
    const { enqueueSoon, idle } = createEnqueuer({
      choose: async (): Promise<never> => {
        choices += 1;
        throw new Error('database is away');
      },
      add: async () => undefined,
      pauseMs: 0,
      logger,
    });
    enqueueSoon(['media']);
    await idle();
    enqueueSoon(['media']);
    await idle();
    expect(choices).toBe(2);
  });
});
