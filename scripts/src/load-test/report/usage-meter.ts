import { machineCpuSeconds } from '../../processes/process-usage';

export interface CpuUsage {
  /** Cores that this process kept busy on average. */
  readonly ownCores: number;
  /** Cores that all processes of the machine kept busy; null where the system does not say. */
  readonly machineCores: number | null;
}

/** Starts to measure; the returned function ends it. */
export function startUsageMeter(): () => CpuUsage {
  const startedAt = performance.now();
  const own = process.cpuUsage();
  const machine = machineCpuSeconds();
  return () => {
    const seconds = (performance.now() - startedAt) / 1000;
    const { user, system } = process.cpuUsage(own);
    const machineSeconds = machineCpuSeconds() - machine;
    return {
      ownCores: (user + system) / 1e6 / seconds,
      machineCores: machineSeconds > 0 ? machineSeconds / seconds : null,
    };
  };
}
