import { ERROR_CATALOGUE, type ErrorCode } from '@lipsync/contract';
import { isStorageAwayAtFirst } from '@lipsync/storage';
import { type JobDisposition } from '@lipsync/worker';
import { InferenceCrash, InferenceFailure } from '../host/inference-error';
import { saysOutOfMemory } from '../protocol/memory';
import { isDiskFull } from './disk-cache';
import { StorageFailed } from './gpu-job';

/** Classifies an error of a job that was not stopped. */
export function classifyError(error: unknown): JobDisposition {
  // This process writes only what a job begins with, so that nothing is lost; others have room.
  const fault = error instanceof StorageFailed ? error.cause : error;
  if (isDiskFull(fault)) return { kind: 'postpone', code: 'storage_failed' };
  if (error instanceof StorageFailed) {
    return { kind: isStorageAwayAtFirst(error.cause) ? 'postpone' : 'retry', code: 'storage_failed' };
  }
  if (error instanceof InferenceCrash) return { kind: 'retry', code: crashCode(error) };
  if (error instanceof InferenceFailure) return classifyInferenceFailure(error);
  return { kind: 'retry', code: 'internal_error' };
}

function classifyInferenceFailure({ code }: InferenceFailure): JobDisposition {
  // Stopped jobs are not classified here, so nobody requested this cancel: try again.
  if (code === 'cancelled') return { kind: 'retry', code: 'engine_failed' };
  // Another worker may have what is missing here; this one restarts and checks again.
  if (code === 'pack_lost' || code === 'device_lost') return { kind: 'retry', code: 'engine_unavailable' };
  return ERROR_CATALOGUE[code].retryable ? { kind: 'retry', code } : { kind: 'fail', code };
}

/**
 * SIGKILL comes from outside (an operator, or the kernel when memory runs out); any other exit is the child's own
 * doing. Some failed allocations can only end the process, which then says why on stderr.
 */
function crashCode({ exit, stderr, hung }: InferenceCrash): ErrorCode {
  if (exit.signal === 'SIGKILL' && !hung) return 'worker_lost';
  return saysOutOfMemory(stderr) ? 'engine_out_of_memory' : 'engine_failed';
}
