import { strict as assert } from 'node:assert';
import {
  conforms,
  ERROR_CATALOGUE,
  type ErrorCode,
  type ErrorPlace,
  isErrorCode,
  openapiDocument,
  type Operation,
  type OperationId,
  operationNamed,
  OPERATIONS,
  type SchemaName,
  validate,
} from '@lipsync/contract';

/** A response whose body has been read. */
export interface ContractResponse {
  status: number;
  headers: Headers;
  /** The parsed JSON; undefined for the response to HEAD, which has no body. */
  body: unknown;
}

/** Codes that any path under /v1 can answer with before the operation is known. */
const PATH_CODES: readonly ErrorCode[] = [
  'invalid_api_key',
  'rate_limit_exceeded',
  'not_found',
  'method_not_allowed',
  'service_unavailable',
  'internal_error',
];

/**
 * Checks a response against the published contract: the status is declared, the body conforms to its schema, an error
 * has a code that the operation declares and the catalogue's status and retryability for it, and the headers that the
 * contract promises are present and well-formed. The operation is null for a path without one.
 *
 * Returns the body for further checks.
 */
export function expectContract(operationId: OperationId | null, response: ContractResponse): unknown {
  const operation = operationId === null ? null : operationNamed(operationId);
  assert.match(response.headers.get('x-request-id') ?? '', /^[A-Za-z0-9._-]{1,128}$/, 'X-Request-Id');

  if (operation !== null && response.status === operation.successStatus) {
    assertSchema(operation.responseSchema, response);
    assertErrorPlaces(operation.responseSchema, response.body);
    assertDeclaredHeaders(operation, response);
    assertRateLimitHeaders(response.headers);
  } else {
    assertError(operation?.errorCodes ?? PATH_CODES, response);
    if (operation !== null) assertDeclaredHeaders(operation, response);
  }
  assert.equal(response.headers.get('cache-control'), 'no-store', 'Cache-Control');
  return response.body;
}

/**
 * Fetches, and checks every answer of the service against the contract; the store's and other servers' it passes on. A
 * client that is given it must not repeat requests, or a violation that occurs once would go unseen.
 */
export async function contractFetch(address: string, init: RequestInit): Promise<Response> {
  const response = await fetch(address, init);
  const method = init.method?.toLowerCase() ?? 'get';
  const { pathname } = new URL(address);
  const operation = OPERATIONS.find(
    ({ method: known, path }) =>
      known === method && new RegExp(`^${path.replace('{id}', '[^/]+')}$`).test(pathname),
  );
  if (operation === undefined) return response;
  const body: unknown = await response.clone().json();
  expectContract(operation.operationId, { status: response.status, headers: response.headers, body });
  return response;
}

function assertError(codes: readonly ErrorCode[], response: ContractResponse): void {
  if (response.body === undefined) return;
  assertSchema('ErrorResponse', response);
  assert.ok(conforms('ErrorResponse', response.body));
  const { code, message, retryable } = response.body.error;
  assert.ok(isErrorCode(code), `${code} is not in the catalogue`);
  assert.ok(codes.includes(code), `${code} is not declared for this operation`);
  const definition = ERROR_CATALOGUE[code];
  assert.equal(response.status, definition.httpStatus, `status of ${code}`);
  assert.equal(retryable, definition.retryable, `retryable of ${code}`);
  assert.ok(message.length > 0 && !message.includes('\n'), 'the message is one line');

  const { headers } = response;
  if (definition.retryAfterSeconds !== null) assertSeconds(headers, 'retry-after');
  if (response.status === 401) assert.equal(headers.get('www-authenticate'), 'Bearer');
  if (response.status === 405) assert.match(headers.get('allow') ?? '', /^(GET, HEAD|POST)$/);
  if (response.status === 429) assertRateLimitHeaders(headers);
}

/** Headers that are present must conform to the contract, which only uses `const` and `integer`. */
function assertDeclaredHeaders(operation: Operation, response: ContractResponse): void {
  const declared = declaredHeaders(operation, response.status);
  for (const name of ['idempotent-replayed', 'retry-after']) {
    if (!response.headers.has(name)) continue;
    assert.ok(
      declared.includes(name),
      `${name} is not declared for ${operation.operationId} ${response.status}`,
    );
  }
  if (response.headers.has('idempotent-replayed'))
    assert.equal(response.headers.get('idempotent-replayed'), 'true');
  if (response.headers.has('retry-after')) assertSeconds(response.headers, 'retry-after');
}

interface DocumentResponse {
  readonly $ref?: string;
  readonly headers?: object;
}

function declaredHeaders({ operationId, path, method }: Operation, status: number): string[] {
  const paths: Readonly<
    Record<string, Readonly<Record<string, { responses: Readonly<Record<string, DocumentResponse>> }>>>
  > = openapiDocument.paths;
  const response = paths[path]?.[method]?.responses[String(status)];
  assert.ok(response, `status ${status} is not declared for ${operationId}`);
  return Object.keys(dereference(response).headers ?? {}).map((name) => name.toLowerCase());
}

function dereference(response: DocumentResponse): DocumentResponse {
  if (response.$ref === undefined) return response;
  const shared: Readonly<Record<string, DocumentResponse>> = openapiDocument.components.responses;
  const found = shared[response.$ref.replace('#/components/responses/', '')];
  assert.ok(found, response.$ref);
  return found;
}

function assertSchema(schema: SchemaName, { status, headers, body }: ContractResponse): void {
  assert.equal(headers.get('content-type'), 'application/json; charset=utf-8', `Content-Type of ${status}`);
  if (body === undefined) return;
  const checked = validate(schema, body);
  if (!checked.ok) assert.fail(`${status} is no ${schema}: ${checked.path} ${checked.reason}`);
}

function assertRateLimitHeaders(headers: Headers): void {
  for (const name of ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'])
    assertSeconds(headers, name);
}

function assertSeconds(headers: Headers, name: string): void {
  assert.match(headers.get(name) ?? '', /^\d+$/, name);
}

interface CarriedError {
  place: ErrorPlace;
  code: string;
}

/** Checks that the errors of a resource and its parts are in the catalogue, for that place. */
function assertErrorPlaces(schema: SchemaName, body: unknown): void {
  for (const { place, code } of carriedErrors(schema, body)) {
    assert.ok(isErrorCode(code), `${code} is not in the catalogue`);
    assert.ok(ERROR_CATALOGUE[code].where.includes(place), `${code} is not declared for a failed ${place}`);
  }
}

function carriedErrors(schema: SchemaName, body: unknown): CarriedError[] {
  const at = (place: ErrorPlace, error: { code: string } | undefined): CarriedError[] =>
    error === undefined ? [] : [{ place, code: error.code }];
  if (schema === 'Asset' && conforms('Asset', body)) return at('asset', body.error);
  if (schema !== 'Record' || !conforms('Record', body)) return [];
  return [...at('record', body.error), ...(body.engines ?? []).flatMap(({ error }) => at('engine', error))];
}
