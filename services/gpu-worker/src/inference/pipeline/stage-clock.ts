import { type StageTimings } from '../protocol';

type Stage =
  'load' | 'analyse' | 'features' | 'audio' | 'decode' | 'crop' | 'infer' | 'paste' | 'encode' | 'quality';

/** Adds up where a job's time goes, and the largest memory the process had while it ran. */
export interface StageClock {
  /** Counts the time until `work` settles towards `stage`. */
  during<T>(stage: Stage, work: () => Promise<T>): Promise<T>;
  /** The same for work that does not wait. */
  sync<T>(stage: Stage, work: () => T): T;
  add(stage: Stage, ms: number): void;
  /** Looks at the memory in use; called once per batch. */
  sampleMemory(): void;
  timings(): StageTimings;
}

export function createStageClock(): StageClock {
  const started = performance.now();
  const spent: Record<Stage, number> = {
    load: 0,
    analyse: 0,
    features: 0,
    audio: 0,
    decode: 0,
    crop: 0,
    infer: 0,
    paste: 0,
    encode: 0,
    quality: 0,
  };
  let peakRss = 0;
  const sampleMemory = (): void => {
    peakRss = Math.max(peakRss, process.memoryUsage.rss());
  };
  const add = (stage: Stage, ms: number): void => {
    spent[stage] += ms;
  };

  return {
    add,
    sampleMemory,
    during: async (stage, work) => {
      const from = performance.now();
      try {
        return await work();
      } finally {
        add(stage, performance.now() - from);
      }
    },
    sync: (stage, work) => {
      const from = performance.now();
      try {
        return work();
      } finally {
        add(stage, performance.now() - from);
      }
    },
    timings: () => {
      sampleMemory();
      return {
        totalMs: Math.round(performance.now() - started),
        loadMs: Math.round(spent.load),
        analyseMs: Math.round(spent.analyse),
        featuresMs: Math.round(spent.features),
        audioMs: Math.round(spent.audio),
        decodeMs: Math.round(spent.decode),
        cropMs: Math.round(spent.crop),
        inferMs: Math.round(spent.infer),
        pasteMs: Math.round(spent.paste),
        encodeMs: Math.round(spent.encode),
        qualityMs: Math.round(spent.quality),
        peakRssBytes: peakRss,
      };
    },
  };
}
