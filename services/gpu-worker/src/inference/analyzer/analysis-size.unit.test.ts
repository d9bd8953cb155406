import { analysisSize } from './analysis-size';

describe('analysisSize', () => {
  test('shrinks to 960 on the longer side, evenly, and never enlarges', () => {
    expect(analysisSize({ width: 1080, height: 1920 })).toEqual({ width: 540, height: 960 });
    expect(analysisSize({ width: 640, height: 480 })).toEqual({ width: 640, height: 480 });
    expect(analysisSize({ width: 641, height: 3 })).toEqual({ width: 642, height: 4 });
  });
});
