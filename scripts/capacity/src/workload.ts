import { type Random } from './distributions';
import { modelOf, modelSeconds, type Profile, type ServiceModel } from './profile';
import { type RenderArrival } from './simulate';

/** The customers' demand. */
export interface Workload {
  readonly rendersPerHour: number;
  /** Share of the renders that request each engine, 1 if all do. A render requests at least one. */
  readonly engines: Readonly<Record<string, number>>;
  /** Mean length of the outputs, which are gamma distributed. */
  readonly outputSeconds: number;
  readonly outputVariation: number;
  /** Share of renders whose video was not analyzed before. */
  readonly newVideoShare: number;
  readonly customers: number;
}

/** Arrivals of a Poisson process over `durationSeconds`. */
export function arrivalsOf(
  workload: Workload,
  profile: Pick<Profile, 'media' | 'engines'>,
  random: Random,
  durationSeconds: number,
): RenderArrival[] {
  const arrivals: RenderArrival[] = [];
  let at = 0;
  for (;;) {
    at += random.exponential(3600 / workload.rendersPerHour);
    if (at > durationSeconds) return arrivals;
    arrivals.push(render(at, workload, profile, random));
  }
}

function render(
  atSeconds: number,
  workload: Workload,
  { media, engines }: Pick<Profile, 'media' | 'engines'>,
  random: Random,
): RenderArrival {
  const output = random.gamma(workload.outputSeconds, workload.outputVariation);
  const isNew = random.uniform() < workload.newVideoShare;
  const time = (model: ServiceModel, analyzed = 0): number =>
    modelSeconds(model, output, analyzed) * random.gamma(1, model.scatter);
  return {
    atSeconds,
    customer: `customer-${Math.floor(random.uniform() * workload.customers)}`,
    // The voice is new every time, the video only for its first render.
    ingestSeconds: [time(media), ...(isNew ? [time(media)] : [])],
    jobs: wantedEngines(workload.engines, random.uniform()).map((queue, index) => ({
      queue,
      // One job makes the face track; the render's other jobs reuse it.
      serviceSeconds: time(modelOf(engines, queue), isNew && index === 0 ? output : 0),
    })),
  };
}

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
