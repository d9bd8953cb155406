import { peaks } from './peaks';

describe('the picture of a voice', () => {
  it('keeps the loudest sample of each part, relative to the loudest of all', () => {
    const picture = peaks(Float32Array.of(0, 0.1, -0.4, 0.2, 0, 0), 3);
    expect([...picture].map((peak) => Number(peak.toFixed(3)))).toEqual([0.25, 1, 0]);
  });

  it('shows silence as silence', () => {
    expect([...peaks(new Float32Array(100).fill(0.0004), 4)]).toEqual([0, 0, 0, 0]);
  });

  it('draws fewer samples than parts, and none', () => {
    expect([...peaks(Float32Array.of(1), 2)]).toEqual([1, 1]);
    expect([...peaks(new Float32Array(0), 2)]).toEqual([0, 0]);
  });
});
