import { createAutoscaler } from './autoscaler';

const settings = {
  ...{ minPods: 0, maxPods: 10, jobsPerPod: 4, oldestSeconds: 300, pollSeconds: 15, upPerMinute: 2 },
  ...{ cooldownSeconds: 600, startSeconds: 0, graceSeconds: 0 },
};
const idle = { waiting: 0, running: 0, oldestSeconds: 0 };

describe('createAutoscaler', () => {
  it('starts one pod from none, then at most so many a minute', () => {
    const { decide } = createAutoscaler(settings, 1);
    const busy = { waiting: 40, running: 0, oldestSeconds: 0 };
    expect(decide(0, 0, idle)).toBe(0);
    expect(decide(15, 0, busy)).toBe(1);
    expect(decide(30, 1, busy)).toBe(3);
    expect(decide(45, 3, busy)).toBe(3);
    expect(decide(91, 3, busy)).toBe(5);
  });

  it('keeps a pod for every job that runs, however few wait', () => {
    const { decide } = createAutoscaler(settings, 1);
    expect(decide(0, 5, { waiting: 0, running: 5, oldestSeconds: 0 })).toBe(5);
    expect(createAutoscaler(settings, 2).decide(0, 3, { waiting: 0, running: 5, oldestSeconds: 0 })).toBe(3);
  });

  it('adds a pod for age where depth would not', () => {
    const { decide } = createAutoscaler(settings, 1);
    expect(decide(0, 1, { waiting: 1, running: 1, oldestSeconds: 700 })).toBe(3);
  });

  it('takes pods away one a minute, only after the cooldown, and the last when nothing was there for so long', () => {
    const { decide } = createAutoscaler(settings, 1);
    let pods = decide(0, 4, { waiting: 0, running: 4, oldestSeconds: 0 });
    const gone: number[] = [];
    for (let now = 15; now <= 1200 && pods > 0; now += 15) {
      const next = decide(now, pods, { waiting: 0, running: 1, oldestSeconds: 0 });
      if (next < pods) gone.push(now);
      pods = next;
    }
    expect(gone).toEqual([615, 675, 735]);
    expect(decide(1815, 1, idle)).toBe(0);
  });
});
