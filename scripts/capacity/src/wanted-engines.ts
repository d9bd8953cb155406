/**
 * The engines that one render requests: at least one, none twice, and over many renders each by exactly its share.
 * Shares that add up to less than 1, so that some renders would request nothing, are scaled up proportionally.
 *
 * Systematic sampling: the shares lie end to end on a line, and the render takes those that contain a whole number plus
 * `draw`, uniform in [0, 1).
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
