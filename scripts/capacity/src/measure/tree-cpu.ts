import { readdirSync } from 'node:fs';
import { processStat } from '@lipsync/scripts';

/**
 * Processor seconds used by a process and its descendants, including those that have ended and were waited for. 0 on
 * systems without /proc.
 */
export function treeCpuSeconds(root: number): number {
  const stats = new Map(allPids().map((pid) => [pid, processStat(pid)]));
  const childrenOf = (pid: number): number[] =>
    [...stats].flatMap(([child, stat]) => (stat?.parent === pid ? [child] : []));
  const ofTree = (pid: number): number => {
    const { own = 0, endedChildren = 0 } = stats.get(pid)?.cpu ?? {};
    return childrenOf(pid).reduce((sum, child) => sum + ofTree(child), own + endedChildren);
  };
  return ofTree(root);
}

function allPids(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}
