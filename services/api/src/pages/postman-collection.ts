import {
  descriptionOf,
  openapiDocument,
  type Operation,
  type OperationDescription,
  OPERATIONS,
} from '@lipsync/contract';

/** Postman's format 2.1, as far as it is used here: https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/ */
interface Request {
  readonly method: string;
  readonly description: string;
  readonly header: readonly object[];
  readonly url: object;
  readonly body?: object;
}

const JSON_HEADER = { key: 'Content-Type', value: 'application/json' };

/** The variable in which the collection remembers the last of a kind, by the first part of its path: `render_id`. */
const variableOf = (path: string): string => `${path.split('/')[2]?.replace(/s$/, '') ?? ''}_id`;

/**
 * The operations of the contract as a collection for Postman and what else reads its format: a folder for each tag, a
 * request for each operation with its examples. It asks for `api_key` alone; what an answer names, later requests use.
 */
export function postmanCollection(baseUrl: string): object {
  const described = OPERATIONS.map((operation) => ({ operation, description: descriptionOf(operation) }));
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
      item: described
        .filter(({ description: { tag } }) => tag === name)
        .flatMap(({ operation, description }) => [
          item(operation, description),
          ...(operation.operationId === 'create_upload' ? [SEND_BYTES] : []),
        ]),
    })),
  };
}

function item(operation: Operation, description: OperationDescription): object {
  const { requests, answers } = description;
  // As many as the longer list has; what the shorter one lacks is its first.
  const pairs = (requests.length > answers.length ? requests : answers).map(({ name }, i) => ({
    name,
    request: requestOf(operation, description, (requests[i] ?? requests[0])?.value),
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

function requestOf(
  { method, path }: Operation,
  { summary, description, parameters }: OperationDescription,
  body: unknown,
): Request {
  const headers = parameters.filter((parameter) => parameter.in === 'header');
  const ids = parameters.filter((parameter) => parameter.in === 'path');
  const segments = path.slice(1).replace(/\{(\w+)\}/, ':$1');
  return {
    method: method.toUpperCase(),
    description: `**${summary}.** ${description}`,
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
