import { type LabelsOf, type Metrics } from '@lipsync/telemetry';
import { type AnalyzeResult, type RenderResult, type WallTime } from '../protocol/messages';

type Doing = LabelsOf<'slot_seconds_total'>['doing'];
/** Milliseconds. */
type SlotTimes = Readonly<Partial<Record<Doing, number>>>;

/** One job's time on its slot. */
export interface SlotTime {
  /** What is known of it, once it is: called when the job has been completed. */
  spent(...times: SlotTimes[]): void;
  /** The slot is free again. What is not known to have gone into anything else counts as `other`. */
  end(): void;
}

/** Counts the seconds of this process's slots by what they went into, which is what its card waited for. */
export function createSlotTime(metrics: Metrics, slots: number) {
  const seconds = metrics.counter('slot_seconds_total');
  let free = slots;
  let since = performance.now();
  const countIdle = (): void => {
    const now = performance.now();
    seconds.inc({ doing: 'idle' }, (free * (now - since)) / 1000);
    since = now;
  };
  metrics.onScrape(async () => countIdle());

  return {
    /** A slot takes a job. */
    begin(): SlotTime {
      countIdle();
      free--;
      const began = performance.now();
      let known = 0;
      return {
        spent(...times) {
          for (const [doing, ms] of times.flatMap((each) => Object.entries(each))) {
            seconds.inc({ doing: doing as Doing }, ms / 1000); // the keys are those of SlotTimes
            known += ms;
          }
        },
        end() {
          countIdle();
          free++;
          seconds.inc({ doing: 'other' }, Math.max(0, performance.now() - began - known) / 1000);
        },
      };
    },
  };
}

/** What graphs waited for, by part of a render's wall time. */
const WAITED_FOR: Readonly<Record<Exclude<keyof WallTime, 'graphs'>, Doing>> = {
  load: 'loading',
  analyze: 'analysis',
  hear: 'analysis',
  exemplars: 'analysis',
  features: 'analysis',
  decode: 'decoder',
  encode: 'encoder',
  finish: 'encoder',
  audio: 'processor',
  crop: 'processor',
  infer: 'processor',
  paste: 'processor',
  quality: 'processor',
  handover: 'processor',
  other: 'processor',
};

/** A render's time in the graphs of its engine: on the card, or on the CPU of a worker without one. */
export function graphMs({ timings, gpuInferenceMs }: RenderResult): number {
  return gpuInferenceMs ?? timings.wall.graphs;
}

/** A render's time. Graphs on the CPU beside a card are work of the processor. */
export function renderTimes(result: RenderResult): SlotTimes {
  const { graphs: runs, ...waits } = result.timings.wall;
  const graphs = graphMs(result);
  const times: Partial<Record<Doing, number>> = { graphs, processor: runs - graphs };
  for (const part of Object.keys(WAITED_FOR) as (keyof typeof WAITED_FOR)[]) {
    const doing = WAITED_FOR[part];
    times[doing] = (times[doing] ?? 0) + (waits[part] ?? 0);
  }
  return times;
}

/** All of it but the time on a card. */
export function analysisTimes({ timings, gpuInferenceMs }: AnalyzeResult): SlotTimes {
  const graphs = gpuInferenceMs ?? 0;
  return { graphs, analysis: timings.totalMs - graphs };
}
