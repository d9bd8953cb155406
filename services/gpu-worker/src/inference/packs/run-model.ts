import { type RunResult, type Tensors } from '../sessions/session';

/**
 * Runs the graph that a pack binds to `role`. Tensors are named by the manifest's keys, whatever the exporter called
 * them. As with sessions, the buffers of the feeds move away and come back.
 */
export type RunModel = (role: string, feeds: Tensors) => Promise<RunResult>;
