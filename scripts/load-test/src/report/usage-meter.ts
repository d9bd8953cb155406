import { machineCpuSeconds } from '@lipsync/scripts';

export interface CpuUsage {
  /** Average number of cores that this process kept busy. */
  readonly ownCores: number;
  /** Average number of cores that all processes of the machine kept busy; null if the system does not report it. */
  readonly machineCores: number | null;
}

/** Starts measuring; the returned function ends it. */
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
