import { withEngine } from './render-files';

describe('the file of one of several results', () => {
  it.each([
    ['/videos/result.mp4', '/videos/result.musetalk.mp4'],
    ['/my.project/result', '/my.project/result.musetalk'],
    ['/videos/take.2.mp4', '/videos/take.2.musetalk.mp4'],
  ])('of %s lies beside it as %s', (file, expected) => {
    expect(withEngine(file, 'musetalk')).toBe(expected);
  });
});
