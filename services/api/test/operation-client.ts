import { conforms, isSuccess, type OperationId, operationNamed, type SuccessBody } from '@lipsync/contract';
import { type RequestOptions, send } from './http-client';

export interface CallOptions extends RequestOptions {
  /** For the path's `{id}`. */
  id?: string;
}

interface Success<Body> {
  status: number;
  headers: Headers;
  body: Body;
}

interface Refusal {
  status: number;
  headers: Headers;
  code: string;
  message: string;
}

/** The operations of one running service. Every response is checked against the contract. */
export interface OperationClient {
  /** Calls an operation that must succeed. */
  ok<Id extends OperationId>(operationId: Id, options?: CallOptions): Promise<Success<SuccessBody<Id>>>;
  /** Calls an operation that must be refused. */
  refused(operationId: OperationId, options?: CallOptions): Promise<Refusal>;
  /** Calls an operation that may succeed or be refused; null when it succeeded. */
  attempt(operationId: OperationId, options?: CallOptions): Promise<Refusal | null>;
}

export function createOperationClient(baseUrl: string): OperationClient {
  async function call<Id extends OperationId>(
    operationId: Id,
    options: CallOptions = {},
  ): Promise<{ success: Success<SuccessBody<Id>> } | { refusal: Refusal }> {
    const operation = operationNamed(operationId);
    const path = operation.path.replace('{id}', encodeURIComponent(options.id ?? ''));
    const { status, headers, body } = await send(
      `${baseUrl}${path}`,
      operation.method.toUpperCase(),
      options,
    );
    if (isSuccess(operationId, status, body)) return { success: { status, headers, body } };
    if (!conforms('ErrorResponse', body))
      throw new Error(`${operationId} answered ${status} without an error`);
    return { refusal: { status, headers, code: body.error.code, message: body.error.message } };
  }
  return {
    ok: async (operationId, options) => {
      const result = await call(operationId, options);
      if ('success' in result) return result.success;
      throw new Error(`${operationId} was refused: ${result.refusal.code} (${result.refusal.message})`);
    },
    refused: async (operationId, options) => {
      const result = await call(operationId, options);
      if ('refusal' in result) return result.refusal;
      throw new Error(`${operationId} was not refused but answered ${result.success.status}`);
    },
    attempt: async (operationId, options) => {
      const result = await call(operationId, options);
      return 'refusal' in result ? result.refusal : null;
    },
  };
}
