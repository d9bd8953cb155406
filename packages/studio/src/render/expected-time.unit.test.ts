import { type RecentRender } from '../history/recent-work';
import { clockText, expectation, type Observation, secondsLeft, timesOfAlike } from './expected-time';

type Progress = Record<string, readonly [stage: string, percent: number]>;
const at = (seconds: number, progress: Progress): Observation => ({
  atMs: seconds * 1000,
  engines: Object.entries(progress).map(([engine, [stage, percent]]) => ({
    engine,
    status: stage === 'completed' || stage === 'queued' ? stage.replace('queued', 'accepted') : 'processing',
    stage,
    progress_percent: percent,
  })),
});

describe('the time that is left', () => {
  it('is that of the slowest engine at its pace since it draws, and goes by between two looks', () => {
    const seen = [
      at(0, { musetalk: ['loading_model', 3], latentsync: ['loading_model', 0] }),
      at(20, { musetalk: ['inferencing', 10], latentsync: ['inferencing', 0] }),
      at(30, { musetalk: ['inferencing', 60], latentsync: ['inferencing', 20] }),
    ];
    expect(secondsLeft(seen, 30_000)).toBe(40);
    expect(secondsLeft(seen, 35_000)).toBe(35);
    expect(secondsLeft(seen, 900_000)).toBe(0);
  });

  it('is not known before every engine at work has shown a pace', () => {
    const first = at(0, { musetalk: ['inferencing', 0], latentsync: ['queued', 0] });
    expect(secondsLeft([], 0)).toBeNull();
    expect(secondsLeft([first], 0)).toBeNull();
    expect(secondsLeft([first, at(2, { musetalk: ['inferencing', 50] })], 2000)).toBeNull();
    expect(secondsLeft([first, at(9, { musetalk: ['inferencing', 5] })], 9000)).toBeNull();
    const waiting = at(10, { musetalk: ['inferencing', 50], latentsync: ['queued', 0] });
    expect(secondsLeft([first, waiting], 10_000)).toBeNull();
    const ended = at(10, { musetalk: ['inferencing', 50], latentsync: ['completed', 100] });
    expect(secondsLeft([first, ended], 10_000)).toBe(10);
  });
});

describe('what renders usually take', () => {
  const render = (id: string, change: Partial<RecentRender> = {}): RecentRender => ({
    ...{ id, createdAt: '2030-01-01T00:00:00Z', expiresAt: '2030-01-08T00:00:00Z', engines: ['musetalk'] },
    ...{
      syncMode: 'loop',
      videoName: 'face.mp4',
      voiceName: 'speech.wav',
      outputSeconds: 10,
      tookSeconds: 20,
    },
    ...change,
  });

  it('is what others of the same engines and nearly the same length took', () => {
    const others = [
      render('this'),
      render('slow', { outputSeconds: 14, tookSeconds: 31 }),
      render('quick', { outputSeconds: 7 }),
      render('long', { outputSeconds: 16, tookSeconds: 500 }),
      render('other engines', { engines: ['musetalk', 'highsync'], tookSeconds: 500 }),
      render('failed', { tookSeconds: undefined as unknown as number }),
    ];
    expect(timesOfAlike(render('this'), others)).toEqual([20, 31]);
    expect(
      timesOfAlike(render('of unknown length', { outputSeconds: undefined as unknown as number }), others),
    ).toEqual([]);
  });

  it('is said only where it is known, as a range, and after the pace of the render itself', () => {
    expect(expectation(null, [])).toBeNull();
    expect(expectation(null, [21])).toBe('one like this took 20 s');
    expect(expectation(null, [19, 21])).toBe('usually takes 20 s');
    expect(expectation(null, [19, 40, 200])).toBe('usually takes 20 s–3 min');
    expect(expectation(null, [19, 40])).toBe('usually takes 20–40 s');
    expect(expectation(32, [19])).toBe('about 30 s left');
    expect(expectation(2, [19])).toBe('a few seconds left');
  });
});

it('tells elapsed time as a clock does, and none before the start', () => {
  expect([-3, 7.9, 750].map(clockText)).toEqual(['0:00', '0:07', '12:30']);
});
