import { type MeasuredRender, modelSeconds, type Profile } from './profile';
import { mean, quantile } from './quantile';
import { createRandom, type Random } from './random';
import { MEDIA_QUEUE, type RenderArrival, SERVICE_POLICY } from './simulation-input';
import { simulate } from './simulate';

export interface Distribution {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
}

export interface Comparison {
  /** `wait`: ready to claimed, of engine jobs. `end_to_end`: created to completed. In seconds. */
  readonly wait: Readonly<Record<'measured' | 'replayed' | 'modelled', Distribution>>;
  readonly end_to_end: Readonly<Record<'measured' | 'replayed' | 'modelled', Distribution>>;
  readonly utilisation: number;
}

const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1);

/**
 * Holds the simulation to a measured run: once with each job's own measured time (only the policy is predicted), once
 * with times drawn from the fitted model (the mean over many seeds).
 */
export function compare(profile: Profile): Comparison {
  const { renders } = profile;
  const replayed = run(profile, renders.map(replay));
  const modelled = SEEDS.map((seed) => {
    const random = createRandom(seed);
    return run(
      profile,
      renders.map((render) => draw(render, profile, random)),
    );
  });
  const average = (of: (result: (typeof modelled)[number]) => Distribution): Distribution => {
    const each = (part: keyof Distribution): number => mean(modelled.map((result) => of(result)[part]));
    return { mean: each('mean'), p50: each('p50'), p90: each('p90'), p95: each('p95') };
  };
  return {
    wait: {
      measured: distribution(renders.map(({ wait_seconds }) => wait_seconds)),
      replayed: replayed.wait,
      modelled: average(({ wait }) => wait),
    },
    end_to_end: {
      measured: distribution(renders.map(({ end_to_end_seconds }) => end_to_end_seconds)),
      replayed: replayed.endToEnd,
      modelled: average(({ endToEnd }) => endToEnd),
    },
    utilisation: replayed.utilisation,
  };
}

function distribution(values: readonly number[]): Distribution {
  const at = (q: number): number => quantile(values, q);
  return { mean: mean(values), p50: at(0.5), p90: at(0.9), p95: at(0.95) };
}

function replay({ at_seconds, customer, engine, ingests, service_seconds }: MeasuredRender): RenderArrival {
  return {
    ...{ atSeconds: at_seconds, customer },
    ingestSeconds: ingests.map((ingest) => ingest.service_seconds),
    jobs: [{ queue: engine, serviceSeconds: service_seconds }],
  };
}

function draw(render: MeasuredRender, profile: Profile, random: Random): RenderArrival {
  const { engine, output_seconds, analysed_seconds, ingests } = render;
  const model = profile.engines[engine];
  if (model === undefined) throw new Error(`the profile has no service times of ${engine}`);
  const { media } = profile;
  return {
    ...{ atSeconds: render.at_seconds, customer: render.customer },
    ingestSeconds: ingests.map(
      ({ media_seconds }) => modelSeconds(media, media_seconds) * random.gamma(1, media.scatter),
    ),
    jobs: [
      {
        queue: engine,
        serviceSeconds:
          modelSeconds(model, output_seconds, analysed_seconds) * random.gamma(1, model.scatter),
      },
    ],
  };
}

function run({ slots, engines, pickup_seconds }: Profile, arrivals: readonly RenderArrival[]) {
  const result = simulate({
    arrivals,
    pools: [
      { name: 'media', queues: [MEDIA_QUEUE], slotsPerPod: slots.media, pods: 1 },
      { name: 'gpu', queues: Object.keys(engines), slotsPerPod: slots.gpu, pods: 1 },
    ],
    policy: { ...SERVICE_POLICY, pickupSeconds: pickup_seconds },
  });
  const jobs = result.jobs.filter(({ queue }) => queue !== MEDIA_QUEUE);
  const gpu = result.pools.get('gpu');
  return {
    wait: distribution(jobs.map(({ claimedAt, availableAt }) => claimedAt - availableAt)),
    endToEnd: distribution(result.renders.map(({ createdAt, endedAt }) => endedAt - createdAt)),
    utilisation: gpu ? gpu.busySlotSeconds / gpu.liveSlotSeconds : NaN,
  };
}
