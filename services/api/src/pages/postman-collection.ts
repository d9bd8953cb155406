import { openapiDocument, type Operation, OPERATIONS } from '@lipsync/contract';

interface Ref {
  readonly $ref: string;
}

/** The parts of an operation in the document that a collection shows. */
interface OperationSource {
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Ref[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

interface Body {
  /** Of errors, which operations share. */
  readonly $ref?: string;
  readonly content?: { readonly 'application/json': { readonly examples: Readonly<Record<string, Ref>> } };
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly example: string;
}

/** Postman's format 2.1, as far as it is used here: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/ */
interface Request {
  readonly method: string;
  readonly description: string;
  readonly header: readonly object[];
  readonly url: object;
  readonly body?: object;
}

const PATHS: Readonly<Record<string, Readonly<Record<string, OperationSource>>>> = openapiDocument.paths;
const PARAMETERS: Readonly<Record<string, Parameter>> = openapiDocument.components.parameters;
const EXAMPLES: Readonly<Record<string, { readonly value: unknown }>> = openapiDocument.components.examples;
const JSON_HEADER = { key: 'Content-Type', value: 'application/json' };

/** The variable in which the collection remembers the last of a kind, by the first part of its path: `render_id`. */
const variableOf = (path: string): string => `${path.split('/')[2]?.replace(/s$/, '') ?? ''}_id`;

/**
 * The operations of the contract as a collection for Postman and what else reads its format: a folder for each tag, a
 * request for each operation with its examples. It asks for `api_key` alone; what an answer names, later requests use.
 */
export function postmanCollection(baseUrl: string): object {
  const byId = OPERATIONS.map((operation) => ({ operation, source: sourceOf(operation) }));
  return {
    info: {
      name: openapiDocument.info.title,
      description: `Set the variable \`api_key\`. Everything is explained at ${baseUrl}/docs.`,
      schema: 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json',
    },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
    variable: [
      { key: 'base_url', value: baseUrl },
      { key: 'api_key', value: '' },
    ],
    item: openapiDocument.tags.map(({ name, description }) => ({
      name,
      description,
      item: byId
        .filter(({ source }) => source.tags[0] === name)
        .flatMap(({ operation, source }) => [
          item(operation, source),
          ...(operation.operationId === 'create_upload' ? [SEND_BYTES] : []),
        ]),
    })),
  };
}

function sourceOf({ path, method }: Operation): OperationSource {
  const source = PATHS[path]?.[method];
  if (source === undefined) throw new Error(`The contract has no ${method} ${path}`);
  return source;
}

function item(operation: Operation, source: OperationSource): object {
  const bodies = examplesOf(source.requestBody);
  const answers = examplesOf(source.responses[String(operation.successStatus)]);
  // As many as the longer list has; what the shorter one lacks is its first.
  const pairs = (bodies.length > answers.length ? bodies : answers).map(({ name }, i) => ({
    name,
    request: requestOf(operation, source, (bodies[i] ?? bodies[0])?.value),
    answer: (answers[i] ?? answers[0])?.value,
  }));
  return {
    name: operation.operationId,
    request: pairs[0]?.request,
    event: [{ listen: 'test', script: { type: 'text/javascript', exec: remembering(operation) } }],
    response: pairs.map(({ name, request, answer }) => ({
      name,
      originalRequest: request,
      code: operation.successStatus,
      header: [JSON_HEADER],
      body: JSON.stringify(answer, null, 2),
      _postman_previewlanguage: 'json',
    })),
  };
}

function requestOf({ method, path }: Operation, source: OperationSource, body: unknown): Request {
  const parameters = (source.parameters ?? []).map(({ $ref }) => named(PARAMETERS, $ref));
  const headers = parameters.filter((parameter) => parameter.in === 'header');
  const ids = parameters.filter((parameter) => parameter.in === 'path');
  const segments = path.slice(1).replace(/\{(\w+)\}/, ':$1');
  return {
    method: method.toUpperCase(),
    description: `**${source.summary}.** ${source.description}`,
    header: [
      ...(body === undefined ? [] : [JSON_HEADER]),
      ...headers.map(({ name, description, example }) => ({
        key: name,
        value: example,
        description,
        disabled: true,
      })),
    ],
    url: {
      raw: `{{base_url}}/${segments}`,
      host: ['{{base_url}}'],
      path: segments.split('/'),
      variable: ids.map(({ name, description }) => ({
        key: name,
        value: `{{${variableOf(path)}}}`,
        description,
      })),
    },
    ...(body === undefined ? {} : { body: jsonBody(body) }),
  };
}

const jsonBody = (value: unknown): object => ({
  mode: 'raw',
  raw: JSON.stringify(value, withVariables, 2),
  options: { raw: { language: 'json' } },
});

/** Ids are those of the last answers, and a key is new for each request. */
function withVariables(name: string, value: unknown): unknown {
  const isAsset = typeof value === 'object' && value !== null && 'asset_id' in value;
  if (isAsset) return { asset_id: `{{${name}_asset_id}}` };
  if (name === 'preparation_id') return '{{preparation_id}}';
  return name === 'idempotency_key' ? '{{$guid}}' : value;
}

/** What runs after an answer: what it names is there for the requests that follow. */
function remembering({ path, responseSchema }: Operation): readonly string[] {
  const names: Readonly<Record<string, string>> = {
    ...(responseSchema !== 'Asset' && { [`'${variableOf(path)}'`]: 'body.id' }),
    ...(responseSchema === 'Asset' && {
      "'asset_id'": 'body.id',
      "body.media_type + '_asset_id'": 'body.id',
    }),
    ...(responseSchema === 'Record' && { "'webhook_id'": 'body.webhook_event_id' }),
    ...(responseSchema === 'Upload' && {
      "'upload_url'": 'body.upload_url',
      "'upload_content_type'": "body.required_headers['Content-Type']",
    }),
  };
  return [
    'if (pm.response.code < 300) {',
    '  const body = pm.response.json();',
    ...Object.entries(names).map(([name, value]) => `  pm.collectionVariables.set(${name}, ${value});`),
    '}',
  ];
}

/** No operation, because it goes to the store, but nothing can be uploaded without it. */
const SEND_BYTES = {
  name: 'send the bytes',
  request: {
    method: 'PUT',
    auth: { type: 'noauth' },
    description:
      'The file whose exact size `create_upload` was told, to the address that it answered; `complete_upload` comes next.',
    header: [{ key: 'Content-Type', value: '{{upload_content_type}}' }],
    url: '{{upload_url}}',
    body: { mode: 'file', file: {} },
  },
};

function examplesOf(body: Body | undefined): readonly { name: string; value: unknown }[] {
  return Object.entries(body?.content?.['application/json'].examples ?? {}).map(([name, { $ref }]) => ({
    name,
    value: named(EXAMPLES, $ref).value,
  }));
}

function named<T>(parts: Readonly<Record<string, T>>, ref: string): T {
  const part = parts[ref.split('/').at(-1) ?? ''];
  if (part === undefined) throw new Error(`The contract has no ${ref}`);
  return part;
}
