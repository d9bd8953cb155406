import { type FromInference, type VerifyResult } from '../protocol/messages';
import { createTaskLoop, type TaskContext } from './task-loop';

const RESULT: VerifyResult = { type: 'verify', packs: [] };
const verify = (jobId: string) => ({ type: 'verify' as const, jobId, packDirs: [] });

/** A loop whose tasks end when the test ends them. */
function setUp(): {
  tell: ReturnType<typeof createTaskLoop>;
  sent: FromInference[];
  tasks: { jobId: string; context: TaskContext; finish: (error?: Error) => void }[];
  settle: () => Promise<void>;
} {
  const sent: FromInference[] = [];
  const tasks: ReturnType<typeof setUp>['tasks'] = [];
  const tell = createTaskLoop(
    (task, context) =>
      new Promise((resolve, reject) => {
        const finish = (error?: Error): void => (error ? reject(error) : resolve(RESULT));
        tasks.push({ jobId: task.jobId, context, finish });
      }),
    (message) => sent.push(message),
  );
  return { tell, sent, tasks, settle: () => new Promise((resolve) => setImmediate(resolve)) };
}

describe('task loop', () => {
  test('tasks run one at a time, in order, each answered once', async () => {
    const { tell, sent, tasks, settle } = setUp();
    tell(verify('a'));
    tell(verify('b'));
    await settle();
    expect(tasks.map(({ jobId }) => jobId)).toEqual(['a']);
    tasks[0]?.finish();
    await settle();
    tasks[1]?.finish(new Error('broken'));
    await settle();
    expect(sent).toEqual([
      { type: 'done', jobId: 'a', result: RESULT },
      {
        type: 'failed',
        jobId: 'b',
        code: 'engine_failed',
        detail: expect.stringContaining('broken') as string,
      },
    ]);
  });

  test('a cancelled task reports the cancel, whatever breaks while it stops', async () => {
    const { tell, sent, tasks, settle } = setUp();
    tell(verify('a'));
    await settle();
    tell({ type: 'cancel', jobId: 'a' });
    expect(tasks[0]?.context.signal.aborted).toBe(true);
    tasks[0]?.finish(new Error('broken pipe'));
    await settle();
    expect(sent).toMatchObject([{ type: 'failed', jobId: 'a', code: 'cancelled' }]);
  });

  test('a ping is answered while a task is under way', async () => {
    const { tell, sent, settle } = setUp();
    tell(verify('a'));
    await settle();
    tell({ type: 'ping' });
    expect(sent).toEqual([{ type: 'pong' }]);
  });

  test('a task that is cancelled before its turn never starts', async () => {
    const { tell, sent, tasks, settle } = setUp();
    tell(verify('a'));
    tell(verify('b'));
    tell({ type: 'cancel', jobId: 'b' });
    await settle();
    tasks[0]?.finish();
    await settle();
    expect(tasks).toHaveLength(1);
    expect(sent).toMatchObject([
      { type: 'done', jobId: 'a' },
      { type: 'failed', jobId: 'b', code: 'cancelled' },
    ]);
  });

  test('a cancel that arrives after the end affects no task: the ended one is forgotten', async () => {
    const { tell, tasks, settle } = setUp();
    tell(verify('a'));
    await settle();
    tasks[0]?.finish();
    await settle();
    tell({ type: 'cancel', jobId: 'a' });
    tell(verify('a'));
    await settle();
    expect(tasks[0]?.context.signal.aborted).toBe(false);
    expect(tasks[1]?.context.signal.aborted).toBe(false);
  });
});
