import { withEngine } from './render-files';

describe('the output file of one of several engines', () => {
  it.each([
    ['/videos/result.mp4', '/videos/result.musetalk.mp4'],
    ['/my.project/result', '/my.project/result.musetalk'],
    ['/videos/take.2.mp4', '/videos/take.2.musetalk.mp4'],
  ])('for %s is %s, beside it', (file, expected) => {
    expect(withEngine(file, 'musetalk')).toBe(expected);
  });
});
