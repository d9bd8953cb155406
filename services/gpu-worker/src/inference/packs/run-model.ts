import { type RunResult, type Tensors } from '../sessions/session';

/** An array of this length with any content, for nobody else. */
export type TakeFloats = (length: number) => Float32Array<ArrayBuffer>;

/**
 * Runs the graph that a pack binds to `role`. Tensors are named by the manifest's keys, whatever the exporter called
 * them. As with sessions, the buffers of the feeds move away and come back. Outputs whose size the manifest tells are
 * written to arrays of `take`, if that is given.
 */
export type RunModel = (role: string, feeds: Tensors, take?: TakeFloats) => Promise<RunResult>;
