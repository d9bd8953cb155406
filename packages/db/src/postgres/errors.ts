import { types } from 'node:util';
import { Prisma } from '@lipsync/prisma';
import { DatabaseError } from 'pg';

/** Not reachable, timed out, gone, closed; no connection or transaction available in time. */
const PRISMA_CODES = new Set([
  'P1000',
  'P1001',
  'P1002',
  'P1003',
  'P1008',
  'P1011',
  'P1017',
  'P2024',
  'P2028',
  'P2037',
]);

/**
 * Connection failures, lack of resources, shutdown and startup, a primary that has become a replica; timeouts of
 * statements, transactions and locks; deadlocks. These conditions pass without a change to the request.
 */
const SQL_STATES = /^(08...|53...|57P0[1-4]|57014|25006|25P0[34]|40001|40P01|55P03|3D000)$/;

/** pg reports a lost connection only by its message. */
const DRIVER_MESSAGES =
  /^(Connection terminated|Client has encountered a connection error|Client was closed|timeout exceeded when trying to connect|Query read timeout)/;

const NETWORK_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
]);

/** Says whether an operation failed because the database was unavailable. The same operation may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof Prisma.PrismaClientInitializationError) return true;
  const state = sqlState(error);
  if (state !== undefined && SQL_STATES.test(state)) return true;
  if (isDriverAdapterError(error)) return isUnreachable(error.cause);
  if (error instanceof Prisma.PrismaClientKnownRequestError) {
    return PRISMA_CODES.has(error.code) || isUnreachable(error.meta);
  }
  // Not instanceof: Node's own errors have another class wherever code runs in a separate context.
  if (!types.isNativeError(error)) return false;
  return DRIVER_MESSAGES.test(error.message) || ('code' in error && NETWORK_CODES.has(String(error.code)));
}

/** Kinds of errors that the driver adapter reports without a SQLSTATE, because no server sent one. */
const UNREACHABLE_KINDS = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TooManyConnections',
  'TlsConnectionError',
]);

function isUnreachable(meta: unknown): boolean {
  if (typeof meta !== 'object' || meta === null) return false;
  if ('kind' in meta && UNREACHABLE_KINDS.has(String(meta.kind))) return true;
  if ('driverAdapterError' in meta) return isUnreachable(meta.driverAdapterError);
  return 'cause' in meta && isUnreachable(meta.cause);
}

export const LOCK_NOT_AVAILABLE = '55P03';

/** The SQLSTATE of a failed statement; undefined if the error is not from the database. */
export function sqlState(error: unknown): string | undefined {
  if (error instanceof DatabaseError) return error.code;
  if (error instanceof Prisma.PrismaClientKnownRequestError) return codeOf(error.meta);
  return isDriverAdapterError(error) ? codeOf(error.cause) : undefined;
}

/** The driver's own error, which Prisma passes on unchanged when a transaction begins or ends. */
function isDriverAdapterError(error: unknown): error is Error {
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
