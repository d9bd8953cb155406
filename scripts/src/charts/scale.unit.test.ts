import { linearScale, logScale, ninesScale, timeScale } from './scale';

const labels = ({ ticks }: ReturnType<typeof linearScale>): string[] =>
  ticks.map(({ label }) => label).filter((label) => label !== '');

describe('scales', () => {
  it('linear: from zero to a round number that covers everything', () => {
    expect(labels(linearScale(23, String))).toEqual(['0', '5', '10', '15', '20', '25']);
    expect(linearScale(23, String).position(12.5)).toBe(0.5);
    expect(labels(linearScale(12, String))).toEqual(['0', '2.5', '5', '7.5', '10', '12.5']);
    expect(linearScale(0.03, String).ticks.at(-1)?.value).toBeCloseTo(0.03);
  });

  it('of time: ends when the run does', () => {
    const scale = timeScale(35, String);
    expect(scale.position(35)).toBe(1);
    expect(scale.ticks.at(-1)?.value).toBeLessThanOrEqual(35);
  });

  it.each([
    [35, ['0', '5', '10']],
    [190, ['0', '30', '60']],
    [3_700, ['0', '600', '1200']],
    [200_000, ['0', '43200', '86400']],
  ])('of time: in steps that clocks use, over %i s', (seconds, first) => {
    const ticks = labels(timeScale(seconds, String));
    expect(ticks.slice(0, 3)).toEqual(first);
    expect(ticks.length).toBeLessThanOrEqual(9);
  });

  it('logarithmic: whole decades, each as long as the others', () => {
    const scale = logScale(3, 700, String);
    expect([1, 10, 100, 1000].map((value) => scale.position(value))).toEqual([
      0,
      expect.closeTo(1 / 3, 6),
      expect.closeTo(2 / 3, 6),
      1,
    ]);
    expect(labels(scale)).toEqual(['1', '10', '100', '1000']);
    expect(labels(logScale(3, 8, String))).toEqual(['1', '2', '5', '10']);
  });

  it('of nines: equal distance for each additional nine', () => {
    const scale = ninesScale(0.9994);
    expect(labels(scale)).toEqual(['0 %', '50 %', '90 %', '99 %', '99.9 %']);
    expect(scale.position(0.9994)).toBe(1);
    const [nine, ninety, thousand] = [0.9, 0.99, 0.999].map((share) => scale.position(share));
    expect((ninety ?? 0) - (nine ?? 0)).toBeCloseTo((thousand ?? 0) - (ninety ?? 0), 6);
  });

  it('clamp values outside to their ends', () => {
    expect(linearScale(10, String).position(99)).toBe(1);
    expect(logScale(1, 10, String).position(0)).toBe(0);
    expect(ninesScale(0.99).position(1)).toBe(1);
  });
});
