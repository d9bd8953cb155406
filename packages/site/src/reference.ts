import {
  descriptionOf,
  nameIn,
  openapiDocument,
  type Operation,
  OPERATIONS,
  type Parameter,
  type Schema,
  SCHEMAS,
} from '@lipsync/contract';
import { type PageSource } from './page-source';
import { callsOf } from './reference-calls';

/** The page of all operations and objects, made of the contract. */
export function referencePage(): PageSource {
  return {
    slug: 'reference',
    title: 'API reference',
    summary:
      'Every operation with its fields, its errors and a request in curl, TypeScript and Python; then every object.',
    section: 'Reference',
    order: 0,
    body: [
      INTRODUCTION,
      ...OPERATIONS.map(operationSection),
      WEBHOOKS,
      '## Objects',
      'Requests are closed: a field that is not listed is refused. Answers may gain fields, so ignore those that you do not know.',
      ...Object.keys(SCHEMAS).filter(isObject).map(objectSection),
      '## Rules for all operations',
      openapiDocument.info.description,
    ].join('\n\n'),
  };
}

const INTRODUCTION = `The base URL is \`{{base_url}}\`. Every request carries an API key as a bearer token: \`Authorization: Bearer svc_…\`. Bodies are JSON.

The contract itself is [openapi.json](/openapi.json), OpenAPI 3.1, from which you can generate a client of your own. As [a collection for Postman](/downloads/lipsync.postman_collection.json) it asks for your key alone, and what an answer names is there for the next request.`;

const WEBHOOKS = `## Webhook events

One signed event is sent to the \`webhook_url\` of a render or preparation when it ends: ${Object.keys(
  openapiDocument.webhooks,
)
  .map((name) => `\`${name}\``)
  .join(
    ', ',
  )}. Its body is a [WebhookEvent](#webhookevent). [Webhooks](/docs/webhooks) explains signatures and retries.

\`\`\`json
${JSON.stringify(openapiDocument.components.examples.EventRenderCompleted.value, null, 2)}
\`\`\``;

/** Text and samples are apart, so that a wide window shows them side by side. */
function operationSection(operation: Operation): string {
  const { summary, description, parameters, requests, answers } = descriptionOf(operation);
  const path = parameters.reduce(
    (path, { in: place, name, example }) => (place === 'path' ? path.replace(`{${name}}`, example) : path),
    operation.path,
  );
  return [
    '<div class="operation">',
    `## ${summary}`,
    '<div class="explained">',
    `**${operation.method.toUpperCase()}** \`${operation.path}\``,
    description,
    ...parameterTable(parameters),
    ...requestTable(operation),
    `**Answers ${operation.successStatus}** with [${operation.responseSchema}](#${operation.responseSchema.toLowerCase()}).`,
    `**Errors**: ${operation.errorCodes.map((code) => `[\`${code}\`](/docs/errors#${code})`).join(', ')}.`,
    '</div>',
    '<div class="samples">',
    callsOf(operation.operationId, { method: operation.method, path, body: requests[0]?.value }),
    '```json\n' + JSON.stringify(answers[0]?.value, null, 2) + '\n```',
    '</div>',
    '</div>',
  ].join('\n\n');
}

function parameterTable(parameters: readonly Parameter[]): string[] {
  if (parameters.length === 0) return [];
  const rows = parameters.map(({ name, in: place, required, description, schema }) =>
    row(name, `${place}, ${required ? 'required' : 'optional'}`, describe({ ...schema, description })),
  );
  return [table('Parameter', rows)];
}

function requestTable({ requestSchema }: Operation): string[] {
  return requestSchema === null ? [] : [fieldTable(SCHEMAS[requestSchema] ?? {}, 'optional')];
}

const isObject = (name: string): boolean => SCHEMAS[name]?.type !== 'string';

function objectSection(name: string): string {
  const schema = SCHEMAS[name] ?? {};
  const alternatives = (schema.oneOf ?? []).map(typeOf).join(' or ');
  const description = schema.description ?? '';
  return [
    `### ${name}`,
    [description, alternatives].filter((text) => text !== '').join(' '),
    ...(schema.properties === undefined ? [] : [fieldTable(schema, 'may be absent')]),
  ].join('\n\n');
}

function fieldTable(schema: Schema, otherwise: string): string {
  const rows = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const isRequired = schema.required?.includes(name) ?? false;
    const presence = isRequired ? (otherwise === 'optional' ? ', required' : '') : `, ${otherwise}`;
    return row(name, `${typeOf(field)}${presence}`, describe(field));
  });
  return table('Field', rows);
}

const table = (head: string, rows: readonly string[]): string =>
  [`| ${head} | Type | Meaning |`, '|---|---|---|', ...rows].join('\n');

const row = (name: string, type: string, meaning: string): string =>
  `| \`${name}\` | ${type} | ${meaning.replaceAll('|', '\\|').replaceAll('\n', ' ')} |`;

/** A named object leads to its table; a named text is explained where it is used. */
function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) {
    const name = nameIn(schema.$ref);
    return isObject(name) ? `[${name}](#${name.toLowerCase()})` : typeOf(SCHEMAS[name] ?? {});
  }
  if (schema.items !== undefined) return `array of ${typeOf(schema.items)}`;
  if (schema.format === 'date-time') return 'time';
  return [schema.type ?? 'object'].flat().join(' or ');
}

function describe(schema: Schema): string {
  const named = schema.$ref === undefined ? {} : (SCHEMAS[nameIn(schema.$ref)] ?? {});
  const { items, minimum, maximum, maxLength, maxItems } = schema;
  const words = schema.enum ?? named.enum;
  const text = schema.description ?? named.description;
  return [
    text,
    words && `One of ${words.map((word) => `\`${word}\``).join(', ')}.`,
    items && describe(items),
    schema.const !== undefined && `Always \`${schema.const}\`.`,
    maxItems !== undefined && `${schema.minItems ?? 0} to ${maxItems}, each once.`,
    minimum !== undefined && maximum !== undefined && `${minimum} to ${maximum}.`,
    maxLength !== undefined && `At most ${maxLength} characters.`,
  ]
    .filter((part) => typeof part === 'string' && part !== '')
    .join(' ');
}
