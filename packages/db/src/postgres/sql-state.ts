import { Prisma } from '@lipsync/prisma';
import { DatabaseError } from 'pg';

export const LOCK_NOT_AVAILABLE = '55P03';

/** The SQLSTATE of a failed statement; undefined if the error is not from the database. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code;
  if (error instanceof Prisma.PrismaClientKnownRequestError) return codeOf(error.meta);
  return isDriverAdapterError(error) ? codeOf(error.cause) : undefined;
}

/** The driver's own error, which Prisma passes on unchanged when a transaction begins or ends. */
export function isDriverAdapterError(error: unknown): error is Error {
  return error instanceof Error && error.name === 'DriverAdapterError';
}

/** Prisma wraps the driver's error once or twice, depending on where it was caught. */
function codeOf(meta: unknown): string | undefined {
  if (typeof meta !== 'object' || meta === null) return undefined;
  if ('originalCode' in meta && typeof meta.originalCode === 'string') return meta.originalCode;
  if ('driverAdapterError' in meta) return codeOf(meta.driverAdapterError);
  if ('cause' in meta) return codeOf(meta.cause);
  return 'code' in meta && typeof meta.code === 'string' ? meta.code : undefined;
}
