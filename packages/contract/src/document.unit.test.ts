import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { ERROR_CATALOGUE, type ErrorCode, isErrorCode } from './error-catalogue';
import { openapiDocument } from './generated/document';
import { isSuccess, OPERATIONS } from './operations';
import { type SchemaName } from './resources';
import { validate } from './validate';

const packageRoot = path.join(__dirname, '..');
const ERROR_STATUSES = ['400', '401', '404', '405', '409', '410', '413', '429', '503'];

type Node = Readonly<Record<string, unknown>>;

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null;
}

/** Every object and array of the document, with its JSON pointer. */
function* walk(value: unknown, pointer = '#'): Generator<[pointer: string, node: Node]> {
  if (!isNode(value)) return;
  yield [pointer, value];
  for (const [key, child] of Object.entries(value)) {
    // Examples hold data, which may look like a schema.
    if (key !== 'examples' && key !== 'example')
      yield* walk(child, `${pointer}/${key.replaceAll('/', '~1')}`);
  }
}

async function problemsOf(source: string): Promise<string[]> {
  const rules = {
    'operation-operationId': 'error',
    'operation-operationId-unique': 'error',
    'no-unused-components': 'error',
    'no-invalid-media-type-examples': 'error',
  } as const;
  const config = await createConfig({ extends: ['recommended'], rules });
  const problems = await lintFromString({ source, absoluteRef: 'openapi.yaml', config });
  return problems.map(({ ruleId, message }) => `${ruleId}: ${message}`);
}

function operationNode(operationPath: string, method: string): Node {
  const paths: Readonly<Record<string, Readonly<Record<string, Node>>>> = openapiDocument.paths;
  const node = paths[operationPath]?.[method];
  if (!node) throw new Error(`No ${method} ${operationPath}`);
  return node;
}

describe('the OpenAPI document', () => {
  it('obeys the rules of OpenAPI 3.1, without unused components or examples that break their schemas', async () => {
    const source = await readFile(path.join(packageRoot, 'openapi/openapi.yaml'), 'utf8');
    await expect(problemsOf(source)).resolves.toEqual([]);
    const broken = source.replace('#/components/schemas/ErrorResponse', '#/components/schemas/Nothing');
    await expect(problemsOf(broken)).resolves.not.toEqual([]);
  });

  it('closes every object, at any depth', () => {
    const objects = [...walk(openapiDocument)].filter(
      ([, node]) => node.type === 'object' || ('properties' in node && isNode(node.properties)),
    );
    const open = objects.filter(([, node]) => {
      // The schema of a map's values closes it.
      const isMap = isNode(node.additionalProperties) && !('properties' in node);
      return !isMap && node.additionalProperties !== false;
    });
    expect(objects.length).toBeGreaterThan(18);
    expect(open.map(([pointer]) => pointer)).toEqual([]);
  });

  it('requires only properties that the object declares', () => {
    const wrong = [...walk(openapiDocument.components.schemas)].filter(([, node]) => {
      const properties = isNode(node.properties) ? node.properties : {};
      return Array.isArray(node.required) && node.required.some((name) => !(String(name) in properties));
    });
    expect(wrong.map(([pointer]) => pointer)).toEqual([]);
  });

  it('is what the committed generated code was made from', async () => {
    const script = path.join(packageRoot, 'scripts/generate.mjs');
    await expect(promisify(execFile)(process.execPath, [script, '--check'])).resolves.toBeDefined();
  });

  it('has exactly the ten operations of the API', () => {
    const table = OPERATIONS.map(
      ({ operationId, method, path: at, requestSchema, successStatus, responseSchema }) =>
        `${operationId} ${method} ${at} ${requestSchema ?? '-'} ${successStatus} ${responseSchema}`,
    );
    expect(table.sort()).toEqual([
      'cancel_render post /v1/renders/{id}/cancel - 202 Record',
      'complete_upload post /v1/uploads/{id}/complete - 202 Asset',
      'create_asset post /v1/assets AssetRequest 202 Asset',
      'create_preparation post /v1/preparations PreparationRequest 202 Record',
      'create_render post /v1/renders RenderRequest 202 Record',
      'create_upload post /v1/uploads UploadRequest 201 Upload',
      'get_asset get /v1/assets/{id} - 200 Asset',
      'get_preparation get /v1/preparations/{id} - 200 Record',
      'get_render get /v1/renders/{id} - 200 Record',
      'get_webhook get /v1/webhooks/{id} - 200 Delivery',
    ]);
  });

  it('requires a bearer credential for every operation and a signature for every webhook', () => {
    expect(openapiDocument.security).toEqual([{ ApiKey: [] }]);
    const { type, scheme } = openapiDocument.components.securitySchemes.ApiKey;
    expect([type, scheme]).toEqual(['http', 'bearer']);
    for (const { path: at, method } of OPERATIONS)
      expect(operationNode(at, method)).not.toHaveProperty('security');
    for (const { post } of Object.values(openapiDocument.webhooks)) {
      const names = post.parameters.map(({ $ref }) => $ref.split('/').at(-1));
      expect(names).toEqual(['SvcEventId', 'SvcDeliveryId', 'SvcSignature']);
    }
  });

  it('has a webhook for every event type, carrying a WebhookEvent of that type', () => {
    const { examples, schemas } = openapiDocument.components;
    expect(Object.keys(openapiDocument.webhooks)).toEqual([...schemas.WebhookEventType.enum]);
    for (const [type, { post }] of Object.entries(openapiDocument.webhooks)) {
      const json = post.requestBody.content['application/json'];
      expect(json.schema.$ref).toBe('#/components/schemas/WebhookEvent');
      const example = new Map(Object.entries<{ value: unknown }>(examples)).get(
        json.examples.event.$ref.split('/').at(-1) ?? '',
      );
      expect(example?.value).toMatchObject({ type });
      expect(JSON.stringify(example?.value)).not.toContain('"output"');
    }
  });

  it.each(OPERATIONS.map((operation) => [operation.operationId, operation] as const))(
    '%s can answer with every error status of the API and names the codes it uses',
    (_, operation) => {
      const { responses } = operationNode(operation.path, operation.method);
      const statuses = Object.keys(isNode(responses) ? responses : {});
      expect(statuses).toEqual([String(operation.successStatus), ...ERROR_STATUSES]);
      expect(operation.errorCodes.length).toBeGreaterThan(0);
      expect(new Set(operation.errorCodes).size).toBe(operation.errorCodes.length);
      for (const code of operation.errorCodes) {
        expect(isErrorCode(code)).toBe(true);
        expect(statuses).toContain(String(ERROR_CATALOGUE[code].httpStatus));
      }
    },
  );

  it.each(['create_render', 'create_preparation'])(
    'lets %s take an Idempotency-Key of 128 characters',
    (id) => {
      const operation = OPERATIONS.find(({ operationId }) => operationId === id);
      expect(operationNode(operation?.path ?? '', 'post').parameters).toEqual([
        { $ref: '#/components/parameters/IdempotencyKey' },
      ]);
      expect(openapiDocument.components.parameters.IdempotencyKey).toMatchObject({
        name: 'Idempotency-Key',
        in: 'header',
        required: false,
        schema: { type: 'string', maxLength: 128 },
      });
    },
  );

  it('says of every measurement of a usage what is measured', () => {
    const silent = Object.entries<Node>(openapiDocument.components.schemas.Usage.properties).filter(
      ([, property]) => !('$ref' in property) && !('description' in property),
    );
    expect(silent.map(([name]) => name)).toEqual([]);
  });

  it('declares the headers that responses carry', () => {
    const { headers, responses } = openapiDocument.components;
    expect(Object.keys(headers)).toEqual(
      expect.arrayContaining(['X-Request-Id', 'RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset']),
    );
    expect(responses.Unauthorized.headers).toHaveProperty('WWW-Authenticate');
    expect(responses.MethodNotAllowed.headers).toHaveProperty('Allow');
    expect(responses.TooManyRequests.headers).toHaveProperty('Retry-After');
    expect(responses.Unavailable.headers).toHaveProperty('Retry-After');
    const created = openapiDocument.paths['/v1/renders'].post.responses['202'].headers;
    expect(created).toHaveProperty('Idempotent-Replayed');
  });
});

describe('the error catalogue', () => {
  const entries = Object.entries(ERROR_CATALOGUE);

  it('uses only the statuses of the API', () => {
    const statuses = entries.flatMap(([, { httpStatus }]) =>
      httpStatus === null ? [] : [String(httpStatus)],
    );
    expect([...new Set(statuses)].sort()).toEqual(ERROR_STATUSES);
  });

  it.each(entries)('%s has one actionable sentence without internals', (_, { message }) => {
    expect(message).toMatch(/^[A-Z](?!.*\. ).*\.$/);
    expect(message).not.toMatch(/postgres|redis|s3|sql|ffmpeg|prisma|stack|cuda|\s\//i);
  });

  it('gives an HTTP status to exactly the codes that answer requests', () => {
    for (const [, { httpStatus, where }] of entries)
      expect(where.includes('request')).toBe(httpStatus !== null);
  });

  it('has no code that no operation uses, except that of unknown paths', () => {
    const used = new Set<ErrorCode>(OPERATIONS.flatMap(({ errorCodes }) => errorCodes));
    const unused = entries.filter(
      ([code, { httpStatus }]) => httpStatus !== null && !(isErrorCode(code) && used.has(code)),
    );
    expect(unused.map(([code]) => code)).toEqual(['not_found']);
  });
});

describe('the examples', () => {
  const bodies = OPERATIONS.flatMap(({ operationId, path: at, method }) => {
    const contents = [...walk(operationNode(at, method))].filter(
      ([, node]) => 'schema' in node && 'examples' in node,
    );
    return contents.map(([pointer, node]) => [`${operationId} ${pointer}`, node] as const);
  });

  it.each(bodies)('of %s pass the validator', (_, { schema, examples }) => {
    const named = new Map(Object.entries<{ value: unknown }>(openapiDocument.components.examples));
    const nameOf = (node: unknown) =>
      String(isNode(node) ? node.$ref : '')
        .split('/')
        .at(-1) ?? '';
    const schemaName = nameOf(schema) as SchemaName;
    for (const reference of Object.values(isNode(examples) ? examples : {})) {
      expect(validate(schemaName, named.get(nameOf(reference))?.value)).toEqual({ ok: true });
    }
  });
});

describe('isSuccess', () => {
  const delivery = { status: 'delivered', attempts: 1 };

  it('accepts the operation’s own status with a body of its schema', () => {
    expect(isSuccess('get_webhook', 200, delivery)).toBe(true);
  });

  it('refuses another status, another schema, and a body with extra properties where the contract allows none', () => {
    expect(isSuccess('get_webhook', 202, delivery)).toBe(false);
    expect(isSuccess('get_asset', 200, delivery)).toBe(false);
    expect(isSuccess('get_webhook', 200, { ...delivery, secret: 1 })).toBe(false);
  });
});
