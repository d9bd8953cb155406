import { modelSeconds, type Profile, type ServiceModel } from './profile';
import { type Random } from './random';
import { type RenderArrival } from './simulation-input';
import { wantedEngines } from './wanted-engines';

/** The customers' demand. */
export interface Workload {
  readonly rendersPerHour: number;
  /** Share of the renders that request each engine, 1 if all do. A render requests at least one. */
  readonly engines: Readonly<Record<string, number>>;
  /** Mean length of the outputs, which are gamma distributed. */
  readonly outputSeconds: number;
  readonly outputVariation: number;
  /** Share of renders whose video was not analysed before. */
  readonly newVideoShare: number;
  readonly customers: number;
}

/** Arrivals of a Poisson process with relative rate `rateAt` (1: the workload's own rate), over `durationSeconds`. */
export function arrivalsOf(
  workload: Workload,
  profile: Pick<Profile, 'media' | 'engines'>,
  random: Random,
  options: { durationSeconds: number; rateAt?: (seconds: number) => number },
): RenderArrival[] {
  const rateAt = options.rateAt ?? (() => 1);
  const arrivals: RenderArrival[] = [];
  let at = 0;
  for (;;) {
    at += random.exponential(3600 / workload.rendersPerHour);
    if (at > options.durationSeconds) return arrivals;
    // Thinning: generate arrivals at the highest rate and keep the share of the current rate.
    if (random.uniform() < rateAt(at)) arrivals.push(render(at, workload, profile, random));
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
  const time = (model: ServiceModel, analysed = 0): number =>
    modelSeconds(model, output, analysed) * random.gamma(1, model.scatter);
  return {
    atSeconds,
    customer: `customer-${Math.floor(random.uniform() * workload.customers)}`,
    // The voice is new every time, the video only for its first render.
    ingestSeconds: [time(media), ...(isNew ? [time(media)] : [])],
    jobs: wantedEngines(workload.engines, random.uniform()).map((queue, index) => {
      const model = engines[queue];
      if (model === undefined) throw new Error(`the profile has no service times of ${queue}`);
      // One job makes the face track; the render's other jobs reuse it.
      return { queue, serviceSeconds: time(model, isNew && index === 0 ? output : 0) };
    }),
  };
}
