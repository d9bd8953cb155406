import { getEventListeners, once } from 'node:events';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { withController } from './time';

const reasonOf = async (controller: AbortController): Promise<unknown> => {
  if (!controller.signal.aborted) await once(controller.signal, 'abort');
  return controller.signal.reason;
};

describe('work with a controller', () => {
  afterEach(() => jest.useRealTimers());

  it('is aborted in time, also if garbage is collected meanwhile', async () => {
    setFlagsFromString('--expose-gc');
    const collectGarbage = runInNewContext('gc') as () => void;
    const { signal } = new AbortController();
    const reason = await withController({ signal, ms: 50 }, (controller) => {
      const aborted = reasonOf(controller);
      setImmediate(collectGarbage);
      return aborted;
    });
    expect(reason).toMatchObject({ name: 'TimeoutError' });
  });

  it('is aborted in time with the given reason', async () => {
    const late = new Error('late');
    expect(await withController({ ms: 1, overdue: () => late }, reasonOf)).toBe(late);
  });

  it.each(['before', 'during'])(
    'is aborted with the reason of a signal that is aborted %s it',
    async (when) => {
      const outer = new AbortController();
      if (when === 'before') outer.abort('stop');
      const reason = withController({ signal: outer.signal }, reasonOf);
      outer.abort('stop');
      expect(await reason).toBe('stop');
    },
  );

  it('can abort itself, and settles as it settles', async () => {
    const failing = withController({}, async (controller) => {
      controller.abort('given up');
      throw new Error('of its own');
    });
    await expect(failing).rejects.toThrow('of its own');
    expect(await withController({}, async () => 'done')).toBe('done');
  });

  it('leaves neither timer nor listener behind', async () => {
    jest.useFakeTimers();
    const { signal } = new AbortController();
    await withController({ signal, ms: 1_000 }, async () => {
      expect([jest.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([1, [expect.anything()]]);
    });
    expect([jest.getTimerCount(), getEventListeners(signal, 'abort')]).toEqual([0, []]);
  });
});
