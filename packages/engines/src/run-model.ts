import { type RunResult, type Tensors } from './tensor';

/** Allocates an array of this length with arbitrary content; nothing else uses it. */
export type TakeFloats = (length: number) => Float32Array<ArrayBuffer>;

/**
 * Runs the graph that a pack binds to `role`. Tensors are named by the manifest's keys, whatever the exporter called
 * them. As with sessions, the buffers of the feeds are transferred and returned. With `take`, outputs whose size
 * follows from the manifest are written to its arrays.
 */
export type RunModel = (role: string, feeds: Tensors, take?: TakeFloats) => Promise<RunResult>;
