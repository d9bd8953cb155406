import { createLogger } from '@lipsync/runtime';
import { ringQueue } from './ring-queue';

const logger = createLogger({ service: 'test', level: 'silent' });
const announcements = [
  { jobId: 'job_a', dispatchSeq: 1 },
  { jobId: 'job_b', dispatchSeq: 4 },
];

describe('ringQueue', () => {
  it('announces what was admitted', async () => {
    const added: unknown[] = [];
    const add = async (announcement: unknown): Promise<void> => void added.push(announcement);
    const rung = await ringQueue({ admit: async () => announcements, add, deadlineMs: 1000, logger });
    expect(rung).toBe(2);
    expect(added).toEqual(announcements);
  });

  it('announces the others when one announcement fails', async () => {
    const add = async ({ jobId }: { jobId: string }): Promise<void> => {
      if (jobId === 'job_a') throw new Error('redis is away');
    };
    expect(await ringQueue({ admit: async () => announcements, add, deadlineMs: 1000, logger })).toBe(1);
  });

  it('resolves when nothing can be admitted', async () => {
    const admit = (): Promise<never> => Promise.reject(new Error('database is away'));
    const add = async (): Promise<void> => undefined;
    expect(await ringQueue({ admit, add, deadlineMs: 1000, logger })).toBe(0);
  });

  it('without a deadline is back when all is done, so that its caller never has two under way', async () => {
    let admitted = (): void => undefined;
    const admit = () =>
      new Promise<typeof announcements>((resolve) => (admitted = () => resolve(announcements)));
    let done = false;
    const rung = ringQueue({ admit, add: async () => undefined, logger }).finally(() => (done = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(done).toBe(false);
    admitted();
    expect(await rung).toBe(2);
  });

  it('does not wait longer than its deadline', async () => {
    const never = new Promise<void>(() => undefined);
    expect(
      await ringQueue({ admit: async () => announcements, add: () => never, deadlineMs: 10, logger }),
    ).toBe(0);
  });
});
