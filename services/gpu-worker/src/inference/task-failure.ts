import { isMediaError, MediaProcessError } from '@lipsync/media';
import { PackError } from '@lipsync/model-pack';
import { saysOutOfMemory } from '../protocol/memory';
import { type FailureCode } from '../protocol/messages';
import { SessionError } from './sessions/session';

/** The task was told to stop. */
export class Cancelled extends Error {
  override readonly name = 'Cancelled';
}

/** No frame of the video shows a face. */
export class NoFaceDetected extends Error {
  override readonly name = 'NoFaceDetected';
}

/** Converts an error to what a failed task reports. The detail is for the service's log, never for customers. */
export function taskFailure(error: unknown): { code: FailureCode; detail: string; graphFailed?: true } {
  const failure = { code: failureCode(error), detail: detailOf(error) };
  return isGraphFailure(error) ? { ...failure, graphFailed: true } : failure;
}

/** Whether a graph could not be loaded or run, or answered with NaN: anything but memory. */
export function isGraphFailure(error: unknown): boolean {
  return error instanceof SessionError && (error.reason === 'run_failed' || error.reason === 'load_failed');
}

function failureCode(error: unknown): FailureCode {
  if (error instanceof Cancelled) return 'cancelled';
  if (error instanceof PackError) return 'pack_lost';
  if (error instanceof NoFaceDetected) return 'no_face_detected';
  if (isMediaError(error)) return error.code;
  if (isOutOfMemory(error)) return 'engine_out_of_memory';
  // A media tool that failed without a verdict, and everything unforeseen: another attempt may succeed.
  return 'engine_failed';
}

/** Whether memory ran out: the graphs' thread's, or this one's for an array or a pixel kernel. */
export function isOutOfMemory(error: unknown): boolean {
  if (error instanceof SessionError) return error.reason === 'out_of_memory';
  return error instanceof RangeError && saysOutOfMemory(error.message);
}

function detailOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error instanceof MediaProcessError) return `${error.reason}: ${error.message}`;
  return error.stack ?? error.message;
}
