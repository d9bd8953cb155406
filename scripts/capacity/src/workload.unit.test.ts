import { wantedEngines } from './workload';

const RENDERS = 1000;

/**
 * For renders spread evenly over all possible draws: the share that requests each engine, and the numbers of engines.
 */
function asked(shares: Record<string, number>): { engines: Record<string, number>; perRender: number[] } {
  const renders = Array.from({ length: RENDERS }, (_, i) => wantedEngines(shares, (i + 0.5) / RENDERS));
  const engines = Object.fromEntries(
    Object.keys(shares).map((engine) => [
      engine,
      renders.filter((wanted) => wanted.includes(engine)).length / RENDERS,
    ]),
  );
  return { engines, perRender: [...new Set(renders.map(({ length }) => length))].sort() };
}

describe('wantedEngines', () => {
  it.each([
    { musetalk: 0.7, latentsync: 0.3 },
    { latentsync: 0.3, musetalk: 0.7 },
    { musetalk: 0.25, latentsync: 0.25, highsync: 0.5 },
  ])('divides the renders when the shares add up to all of them: %j', (shares) => {
    expect(asked(shares)).toEqual({ engines: shares, perRender: [1] });
  });

  it('gives every engine its share when some renders request several', () => {
    const shares = { musetalk: 1, latentsync: 0.5, highsync: 0.25 };
    expect(asked(shares)).toEqual({ engines: shares, perRender: [1, 2] });
  });

  it('never leaves a render without an engine', () => {
    expect(asked({ musetalk: 0.3, highsync: 0.1 })).toEqual({
      engines: { musetalk: 0.75, highsync: 0.25 },
      perRender: [1],
    });
  });

  it('refuses a share above 1', () => {
    expect(() => wantedEngines({ musetalk: 2 }, 0)).toThrow('more than all renders');
  });
});
