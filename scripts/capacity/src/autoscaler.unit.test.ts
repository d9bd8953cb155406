import { createAutoscaler } from './autoscaler';

const settings = {
  ...{ minPods: 0, maxPods: 10, jobsPerPod: 4, oldestSeconds: 300, pollSeconds: 15, upPerMinute: 2 },
  ...{ cooldownSeconds: 600, startSeconds: 0, graceSeconds: 0 },
};
const idle = { waiting: 0, startable: 0, running: 0, oldestSeconds: 0 };

describe('createAutoscaler', () => {
  it('starts one pod from zero, then at most the limit per minute', () => {
    const { decide } = createAutoscaler(settings, 1);
    const busy = { ...idle, waiting: 40, startable: 40 };
    expect(decide(0, 0, idle)).toBe(0);
    expect(decide(15, 0, busy)).toBe(1);
    expect(decide(30, 1, busy)).toBe(3);
    expect(decide(45, 3, busy)).toBe(3);
    expect(decide(91, 3, busy)).toBe(5);
  });

  it('keeps one pod, and no more, for jobs that their customer’s cap keeps from starting', () => {
    const { decide } = createAutoscaler(settings, 1);
    const held = { ...idle, waiting: 40 };
    expect(decide(0, 0, held)).toBe(1);
    expect(decide(3600, 1, held)).toBe(1);
  });

  it('keeps a pod for every running job, however few wait', () => {
    const { decide } = createAutoscaler(settings, 1);
    expect(decide(0, 5, { ...idle, running: 5 })).toBe(5);
    expect(createAutoscaler(settings, 2).decide(0, 3, { ...idle, running: 5 })).toBe(3);
  });

  it('adds a pod for age where depth would not', () => {
    const { decide } = createAutoscaler(settings, 1);
    expect(decide(0, 1, { waiting: 1, startable: 1, running: 1, oldestSeconds: 700 })).toBe(3);
  });

  it('removes pods one a minute, only after the cooldown, and the last one only after a long enough idle time', () => {
    const { decide } = createAutoscaler(settings, 1);
    let pods = decide(0, 4, { ...idle, running: 4 });
    const gone: number[] = [];
    for (let now = 15; now <= 1200 && pods > 0; now += 15) {
      const next = decide(now, pods, { ...idle, running: 1 });
      if (next < pods) gone.push(now);
      pods = next;
    }
    expect(gone).toEqual([615, 675, 735]);
    expect(decide(1815, 1, idle)).toBe(0);
  });
});
