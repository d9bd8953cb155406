import { createLogger, type Logger } from '@lipsync/runtime';
import { createDoorbell } from './doorbell';

const logger = createLogger({ service: 'test', level: 'silent' });
const announcements = [
  { jobId: 'job_a', dispatchSeq: 1 },
  { jobId: 'job_b', dispatchSeq: 4 },
];
const admit = async () => announcements;

describe('a doorbell', () => {
  it('announces what was admitted', async () => {
    const added: unknown[] = [];
    const add = async (queue: string, announcement: unknown) => void added.push([queue, announcement]);
    expect(await createDoorbell({ admit, add, deadlineMs: 1000, logger })('media')).toBe(2);
    expect(added).toEqual(announcements.map((announcement) => ['media', announcement]));
  });

  it('announces the others when one announcement fails', async () => {
    const add = async (_queue: string, { jobId }: { jobId: string }): Promise<void> => {
      if (jobId === 'job_a') throw new Error('redis is away');
    };
    expect(await createDoorbell({ admit, add, deadlineMs: 1000, logger })('media')).toBe(1);
  });

  it('resolves when nothing can be admitted', async () => {
    const nothing = (): Promise<never> => Promise.reject(new Error('database is away'));
    const add = async (): Promise<void> => undefined;
    expect(await createDoorbell({ admit: nothing, add, deadlineMs: 1000, logger })('media')).toBe(0);
  });

  it('tells of an outage once for each queue, and once that it is over', async () => {
    const told: unknown[] = [];
    const tell = (message: string, { queue }: { queue: string }) => void told.push(`${queue}: ${message}`);
    const telling = { warn: tell, info: tell } as unknown as Logger;
    let away = true;
    const ring = createDoorbell({
      admit: async (queue: string) => {
        if (away && queue !== 'media') throw new Error('database is away');
        return announcements;
      },
      add: async () => undefined,
      logger: telling,
    });
    const round = async () => {
      for (const queue of ['media', 'musetalk', 'highsync']) await ring(queue);
    };
    await round();
    await round();
    const begun = ['musetalk: not all jobs were announced', 'highsync: not all jobs were announced'];
    expect(told).toEqual(begun);
    away = false;
    await round();
    await round();
    expect(told).toEqual([
      ...begun,
      'musetalk: jobs are announced again',
      'highsync: jobs are announced again',
    ]);
  });

  it('without a deadline is back when all is done, so that its caller never has two under way', async () => {
    let admitted = (): void => undefined;
    const later = () =>
      new Promise<typeof announcements>((resolve) => (admitted = () => resolve(announcements)));
    let done = false;
    const ring = createDoorbell({ admit: later, add: async () => undefined, logger });
    const rung = ring('media').finally(() => (done = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBe(false);
    admitted();
    expect(await rung).toBe(2);
  });

  it('does not wait longer than its deadline', async () => {
    const never = new Promise<void>(() => undefined);
    expect(await createDoorbell({ admit, add: () => never, deadlineMs: 10, logger })('media')).toBe(0);
  });
});
