import { createTaskProgress, type TaskProgress } from './job';

/** Records progress with a clock that advances by `callMs` on every call. */
function record({ callMs = 1000 } = {}): { steps: [string, number][]; progress: TaskProgress } {
  const steps: [string, number][] = [];
  let nowMs = 0;
  const progress = createTaskProgress(
    (stage, percent) => steps.push([stage, percent]),
    () => (nowMs += callMs),
  );
  return { steps, progress };
}

describe('task progress', () => {
  test('stages follow one another, and the percentage only rises within each', () => {
    const { steps, progress } = record();
    progress.loading();
    for (let i = 0; i <= 250; i++) progress.preparing(i / 250);
    for (let i = 0; i <= 400; i++) progress.rendered(i, 400);
    progress.encoding();

    expect([...new Set(steps.map(([stage]) => stage))]).toEqual([
      'loading_model',
      'preparing',
      'inferencing',
      'encoding',
    ]);
    for (const stage of ['preparing', 'inferencing']) {
      const percents = steps.filter(([name]) => name === stage).map(([, percent]) => percent);
      expect(percents.length).toBeGreaterThan(200);
      expect(percents).toEqual([...percents].sort((a, b) => a - b));
    }
    expect(steps.at(-1)).toEqual(['encoding', 92]);
  });

  test('a frame count that was estimated too low does not run past the end of the scale', () => {
    const { steps, progress } = record();
    progress.preparing(300 / 250);
    progress.preparing(310 / 250);
    expect(steps).toEqual([['preparing', 100]]);
  });

  test('steps too small or too quick to see are not reported, but a new stage always is', () => {
    const small = record();
    for (let i = 0; i < 10_000; i++) small.progress.rendered(i, 10_000_000);
    expect(small.steps.length).toBeLessThan(5);
    const { steps, progress } = record({ callMs: 1 });
    for (let i = 0; i <= 400; i++) progress.rendered(i, 400);
    expect(steps.length).toBeLessThan(10);
    progress.encoding();
    expect(steps.at(-1)).toEqual(['encoding', 92]);
  });
});
