import { type operations } from './generated/openapi';
import { type OperationId, operationNamed } from './operations';
import { conforms } from './validate';

type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never;
type Responses<Id extends OperationId> = operations[Id]['responses'];

/** The response body of an operation on success. */
export type SuccessBody<Id extends OperationId> = JsonOf<
  Responses<Id>[keyof Responses<Id> & (200 | 201 | 202)]
>;

/** Says whether a response is the success of an operation: its status, and a body that conforms to its schema. */
export function isSuccess<Id extends OperationId>(
  operationId: Id,
  status: number,
  body: unknown,
): body is SuccessBody<Id> {
  const { successStatus, responseSchema } = operationNamed(operationId);
  return status === successStatus && conforms(responseSchema, body);
}
