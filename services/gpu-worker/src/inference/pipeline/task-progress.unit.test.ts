import { createTaskProgress } from './task-progress';

function record(kind: 'render' | 'analyze'): {
  steps: [string, number][];
  progress: ReturnType<typeof createTaskProgress>;
} {
  const steps: [string, number][] = [];
  return { steps, progress: createTaskProgress(kind, (stage, percent) => steps.push([stage, percent])) };
}

describe('task progress', () => {
  test('percent never falls through all stages of a render', () => {
    const { steps, progress } = record('render');
    progress.loading();
    for (let i = 0; i <= 250; i++) progress.analysed(i, 250);
    for (let i = 0; i <= 400; i++) progress.rendered(i, 400);
    progress.encoding();
    const percents = steps.map(([, percent]) => percent);
    expect(percents).toEqual([...percents].sort((a, b) => a - b));
    expect(steps[0]).toEqual(['loading_model', 0]);
    expect(steps.at(-1)).toEqual(['encoding', 92]);
  });

  test('an estimate of the frame count that proves too low does not run past its part', () => {
    const { steps, progress } = record('render');
    progress.analysed(300, 250);
    progress.rendered(1, 300);
    expect(steps[0]).toEqual(['inferencing', 25]);
    expect(steps[1]?.[1]).toBeLessThan(26);
  });

  test('with a prepared track rendering fills the analysis part too', () => {
    const { steps, progress } = record('render');
    progress.loading();
    progress.rendered(0, 100);
    progress.rendered(100, 100);
    expect(steps.map(([, percent]) => percent)).toEqual([0, 2, 92]);
  });

  test('an analysis alone fills the whole scale', () => {
    const { steps, progress } = record('analyze');
    progress.analysed(250, 250);
    expect(steps).toEqual([['inferencing', 92]]);
  });

  test('steps too small to see are not reported', () => {
    const { steps, progress } = record('render');
    for (let i = 0; i < 10_000; i++) progress.rendered(i, 10_000_000);
    expect(steps.length).toBeLessThan(5);
  });
});
