import { type ErrorCode } from './error-catalogue';
import { openapiDocument } from './generated/document';
import { type operations } from './generated/openapi';
import { type SchemaName } from './resources';
import { conforms } from './validate';

type Values<T> = T extends unknown ? T[keyof T] : never;

/** The operations of this service. Webhooks have ids, too, but are operations of their receivers. */
export type OperationId = Values<Values<(typeof openapiDocument)['paths']>>['operationId'];

export interface Operation {
  readonly operationId: OperationId;
  readonly method: 'get' | 'post';
  /** As in the document, for example `/v1/renders/{id}`. */
  readonly path: string;
  readonly requestSchema: SchemaName | null;
  readonly successStatus: number;
  readonly responseSchema: SchemaName;
  /** The error codes that this operation can answer with, including `method_not_allowed`, which belongs to its path. */
  readonly errorCodes: readonly ErrorCode[];
}

interface JsonBody {
  readonly content: { readonly 'application/json': { readonly schema: { readonly $ref: string } } };
}

interface SourceOperation {
  readonly operationId: OperationId;
  readonly requestBody?: JsonBody;
  readonly responses: Readonly<Record<string, object>>;
  readonly 'x-error-codes': readonly ErrorCode[];
}

const SCHEMAS = '#/components/schemas/';

function schemaOf(body: JsonBody): SchemaName {
  const { $ref } = body.content['application/json'].schema;
  const name = $ref.slice(SCHEMAS.length);
  if (!$ref.startsWith(SCHEMAS) || !isSchemaName(name)) throw new Error(`No such schema: ${$ref}`);
  return name;
}

function isSchemaName(name: string): name is SchemaName {
  return Object.hasOwn(openapiDocument.components.schemas, name);
}

function isJsonBody(response: object): response is JsonBody {
  return 'content' in response;
}

function derive(path: string, method: 'get' | 'post', source: SourceOperation): Operation {
  const success = Object.entries(source.responses).find(([status]) => status.startsWith('2'));
  if (!success || !isJsonBody(success[1])) throw new Error(`${source.operationId} has no success response`);
  return {
    operationId: source.operationId,
    method,
    path,
    requestSchema: source.requestBody ? schemaOf(source.requestBody) : null,
    successStatus: Number(success[0]),
    responseSchema: schemaOf(success[1]),
    errorCodes: source['x-error-codes'],
  };
}

function deriveAll(): readonly Operation[] {
  const paths: Readonly<Record<string, { get?: SourceOperation; post?: SourceOperation }>> =
    openapiDocument.paths;
  return Object.entries(paths).flatMap(([path, item]) => [
    ...(item.get ? [derive(path, 'get', item.get)] : []),
    ...(item.post ? [derive(path, 'post', item.post)] : []),
  ]);
}

/** Every operation of the document, in document order. The router, the docs and the tests derive from this table. */
export const OPERATIONS = deriveAll();

/**
 * The operation with this id.
 * @throws Error for an unknown id, which a typed caller cannot pass
 */
export function operationNamed(operationId: OperationId): Operation {
  const operation = OPERATIONS.find((candidate) => candidate.operationId === operationId);
  if (operation === undefined) throw new Error(`No such operation: ${operationId}`);
  return operation;
}

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
