/**
 * The engines that one render asks for: at least one, none twice, and over many renders each by exactly its share.
 * Shares that come to less than 1 in all, so that some renders would ask for nothing, count in proportion.
 *
 * Systematic sampling: the shares lie end to end on a line, and the render takes those on which a whole number plus
 * `draw`, uniform in [0, 1), falls.
 */
export function wantedEngines(shares: Readonly<Record<string, number>>, draw: number): string[] {
  const total = Object.values(shares).reduce((sum, share) => sum + share, 0);
  const scale = 1 / Math.min(1, total);
  const pointsBefore = (position: number): number => Math.ceil(position - draw);
  let from = 0;
  return Object.entries(shares)
    .filter(([engine, share]) => {
      if (share > 1) throw new RangeError(`the share of ${engine} is more than all renders: ${share}`);
      const to = from + share * scale;
      const taken = pointsBefore(to) > pointsBefore(from);
      from = to;
      return taken;
    })
    .map(([engine]) => engine);
}
