import { pictureRuns } from './frame-source';

describe('runs of a frame sequence', () => {
  it('keeps repeats and skips inside one forward run', () => {
    expect(pictureRuns([0, 0, 1, 5, 5, 9])).toEqual([{ direction: 'forward', from: 0, to: 5 }]);
  });

  it('turns a bounce into alternating runs that share no position', () => {
    expect(pictureRuns([0, 1, 2, 3, 2, 1, 0, 1, 2])).toEqual([
      { direction: 'forward', from: 0, to: 3 },
      { direction: 'backward', from: 4, to: 6 },
      { direction: 'forward', from: 7, to: 8 },
    ]);
  });

  it('reads the restart of a loop as a new forward run, not as a step backwards', () => {
    expect(pictureRuns([0, 1, 2, 0, 1, 2])).toEqual([
      { direction: 'forward', from: 0, to: 2 },
      { direction: 'forward', from: 3, to: 5 },
    ]);
  });
});
