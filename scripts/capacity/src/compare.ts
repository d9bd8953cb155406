import { DEFAULT_CUSTOMER_LIMITS } from '@lipsync/domain';
import { mean, quantile } from '@lipsync/local-stack';
import { createRandom, type Random } from './distributions';
import { type MeasuredRender, modelOf, modelSeconds, type Profile, type ServiceModel } from './profile';
import { MEDIA_QUEUE, simulate } from './simulate';

export interface Distribution {
  readonly mean: number;
  readonly p50: number;
  readonly p90: number;
  readonly p95: number;
}

/** The results of a run of renders. */
export interface Run {
  /** Wait of engine jobs from ready to claimed, in seconds. */
  readonly wait: Distribution;
  /** From creation to completion, in seconds. */
  readonly end_to_end: Distribution;
  /** Number of renders that had completed when the last one was created. */
  readonly completed_at_last_arrival: number;
  /** Based on the time from the first create to the last completion. */
  readonly completed_per_hour: number;
  /** Share of that time in which the engine slots were busy. */
  readonly utilization: number;
}

/**
 * `replayed`: with each job's own measured time. `modeled`: with times from the fitted model, mean of many seeds.
 * `shuffled`: with the jobs' deviations from the model exchanged within an engine. Where this differs from `replayed`,
 * slow jobs came together, which the model does not capture; where it differs from `modeled`, the model fits badly.
 */
export interface Comparison {
  readonly renders: number;
  readonly measured: Run;
  readonly replayed: Run;
  readonly shuffled: Run;
  readonly modeled: Run;
}

const SEEDS = Array.from({ length: 50 }, (_, index) => index + 1);

/** Compares the simulation with a measured run. */
export function compare(profile: Profile): Comparison {
  const { renders, slots } = profile;
  return {
    renders: renders.length,
    measured: runOf(
      slots.gpu,
      renders.map((render) => ({
        createdAt: render.at_seconds,
        endedAt: render.at_seconds + render.end_to_end_seconds,
        waitSeconds: render.wait_seconds,
        serviceSeconds: render.service_seconds,
      })),
    ),
    replayed: simulated(profile, renders),
    shuffled: averaged(SEEDS.map((seed) => simulated(profile, shuffle(profile, createRandom(seed))))),
    modeled: averaged(
      SEEDS.map((seed) => {
        const random = createRandom(seed);
        return simulated(
          profile,
          renders.map((render) => draw(render, profile, random)),
        );
      }),
    ),
  };
}

interface Outcome {
  readonly createdAt: number;
  readonly endedAt: number;
  readonly waitSeconds: number;
  readonly serviceSeconds: number;
}

function runOf(slots: number, outcomes: readonly Outcome[]): Run {
  const lastArrival = Math.max(...outcomes.map(({ createdAt }) => createdAt));
  const seconds = Math.max(...outcomes.map(({ endedAt }) => endedAt));
  return {
    wait: distribution(outcomes.map(({ waitSeconds }) => waitSeconds)),
    end_to_end: distribution(outcomes.map(({ createdAt, endedAt }) => endedAt - createdAt)),
    completed_at_last_arrival: outcomes.filter(({ endedAt }) => endedAt <= lastArrival).length,
    completed_per_hour: (outcomes.length / seconds) * 3600,
    utilization: outcomes.reduce((sum, { serviceSeconds }) => sum + serviceSeconds, 0) / slots / seconds,
  };
}

function averaged(runs: readonly Run[]): Run {
  const over = (of: (run: Run) => number): number => mean(runs.map(of));
  const distributionOver = (of: (run: Run) => Distribution): Distribution => ({
    mean: over((run) => of(run).mean),
    p50: over((run) => of(run).p50),
    p90: over((run) => of(run).p90),
    p95: over((run) => of(run).p95),
  });
  return {
    wait: distributionOver(({ wait }) => wait),
    end_to_end: distributionOver(({ end_to_end }) => end_to_end),
    completed_at_last_arrival: over((run) => run.completed_at_last_arrival),
    completed_per_hour: over((run) => run.completed_per_hour),
    utilization: over(({ utilization }) => utilization),
  };
}

function distribution(values: readonly number[]): Distribution {
  const at = (q: number): number => quantile(values, q);
  return { mean: mean(values), p50: at(0.5), p90: at(0.9), p95: at(0.95) };
}

/** Exchanges the renders' deviations from the model within each engine. */
function shuffle({ engines, renders }: Profile, random: Random): MeasuredRender[] {
  const expected = ({ engine, output_seconds, analysed_seconds }: MeasuredRender): number =>
    modelSeconds(modelOf(engines, engine), output_seconds, analysed_seconds);
  const ratios = new Map(
    Object.keys(engines).map((engine) => [
      engine,
      renders
        .filter((render) => render.engine === engine)
        .map((render) => ({ ratio: render.service_seconds / expected(render), place: random.uniform() }))
        .sort((a, b) => a.place - b.place)
        .map(({ ratio }) => ratio),
    ]),
  );
  return renders.map((render) => ({
    ...render,
    service_seconds: expected(render) * (ratios.get(render.engine)?.pop() ?? 1),
  }));
}

/** With times drawn from the model. */
function draw(render: MeasuredRender, { media, engines }: Profile, random: Random): MeasuredRender {
  const { engine, output_seconds, analysed_seconds, ingests } = render;
  const drawn = (model: ServiceModel, mediaSeconds: number, analyzedSeconds = 0): number =>
    modelSeconds(model, mediaSeconds, analyzedSeconds) * random.gamma(1, model.scatter);
  return {
    ...render,
    ingests: ingests.map((ingest) => ({ ...ingest, service_seconds: drawn(media, ingest.media_seconds) })),
    service_seconds: drawn(modelOf(engines, engine), output_seconds, analysed_seconds),
  };
}

/** The run of these renders with their own times. */
function simulated({ slots, engines, pickup_seconds }: Profile, renders: readonly MeasuredRender[]): Run {
  const { jobs } = simulate({
    arrivals: renders.map(({ at_seconds, customer, engine, ingests, service_seconds }) => ({
      atSeconds: at_seconds,
      customer,
      ingestSeconds: ingests.map((ingest) => ingest.service_seconds),
      jobs: [{ queue: engine, serviceSeconds: service_seconds }],
    })),
    pools: [
      { name: 'media', queues: [MEDIA_QUEUE], slotsPerPod: slots.media, pods: 1 },
      { name: 'gpu', queues: Object.keys(engines), slotsPerPod: slots.gpu, pods: 1 },
    ],
    policy: { runningJobsMax: DEFAULT_CUSTOMER_LIMITS.runningJobsMax, pickupSeconds: pickup_seconds },
  });
  return runOf(
    slots.gpu,
    jobs
      .filter(({ queue }) => queue !== MEDIA_QUEUE)
      .map(({ createdAt, availableAt, claimedAt, endedAt }) => ({
        createdAt,
        endedAt,
        waitSeconds: claimedAt - availableAt,
        serviceSeconds: endedAt - claimedAt,
      })),
  );
}
