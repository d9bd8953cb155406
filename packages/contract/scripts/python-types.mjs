// The types of the Python client: a Literal for every vocabulary, a TypedDict for every request, a frozen dataclass for
// everything that the service answers.

/** Error would hide Python's word for something else. */
const NAMES = { Error: 'ErrorBody' };
/** Fields that let anyone who sees them read or write media: no repr shows them. */
const SIGNED = ['Output.url', 'Upload.upload_url'];
const ONLY_RENDERS_REQUIRE = ['audio_asset_id', 'sync_mode', 'engines'];
/** What is written in this order can be read from top to bottom. */
const INPUTS = ['AssetInput', 'UrlInput'];
const REQUESTS = ['RenderRequest', 'PreparationRequest', 'UploadRequest', 'AssetRequest'];
const ANSWERS = [
  'Error',
  'Output',
  'Usage',
  'EngineResult',
  'Preparation',
  'Media',
  'Asset',
  'Upload',
  'Delivery',
];

/** The text of a module for the parsed document. */
export function pythonTypes({ components: { schemas }, 'x-error-catalogue': catalogue }) {
  const { Record: record, WebhookEvent: event } = schemas;
  const codes = (...places) =>
    Object.keys(catalogue).filter(
      (code) => places.length === 0 || places.some((place) => catalogue[code].where.includes(place)),
    );
  const eventTypes = (kind) => schemas.WebhookEventType.enum.filter((type) => type.startsWith(`${kind}.`));
  return [
    HEADER,
    ...Object.entries(schemas)
      .filter(([, { enum: values }]) => values !== undefined)
      .map(([name, { enum: values, description }]) => alias(name, values, description)),
    alias('ErrorCode', codes(), 'Every error code of this version. Later ones may have more.'),
    alias('ApiErrorCode', codes('request'), 'The codes with which a request can be refused.'),
    alias('RecordErrorCode', codes('record'), 'The codes that a failed render or preparation can carry.'),
    alias('AssetErrorCode', codes('asset'), 'The codes that a failed asset can carry.'),
    ...INPUTS.map((name) => typedDict(name, schemas[name])),
    `\nInput = ${INPUTS.join(' | ')}\n`,
    ...REQUESTS.map((name) => typedDict(name, schemas[name])),
    ...ANSWERS.map((name) => dataclass(name, schemas[name])),
    dataclass('RenderRecord', {
      ...without(record, ['preparation']),
      description: 'A render: its state, progress, and a result for every engine.',
      required: [...record.required, ...ONLY_RENDERS_REQUIRE],
    }),
    dataclass('PreparationRecord', {
      ...without(record, [...ONLY_RENDERS_REQUIRE, 'preparation_id']),
      description: 'A preparation: its state, progress, and once completed what the analysis found.',
    }),
    ...['Render', 'Preparation'].map((kind) =>
      dataclass(`${kind}Event`, {
        ...event,
        description: `What a webhook delivers of a ${kind.toLowerCase()}. Deduplicate by \`id\`.`,
        properties: {
          ...event.properties,
          type: { enum: eventTypes(kind.toLowerCase()) },
          data: {
            $ref: `#/components/schemas/${kind}Record`,
            description: event.properties.data.description,
          },
        },
      }),
    ),
    '\nWebhookEvent = RenderEvent | PreparationEvent\n',
  ].join('\n');
}

const HEADER = `# Generated from openapi/openapi.yaml of the contract by its scripts/generate.mjs. Do not edit.
# ruff: noqa: E501
from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Literal, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired
`;

function alias(name, values, description) {
  return `${name} = ${literal(values)}\n${docstring(description, '')}`;
}

function typedDict(name, { properties, required, description }) {
  const fields = Object.entries(properties).map(([key, schema]) => {
    const type = required.includes(key) ? typeOf(schema) : `NotRequired[${typeOf(schema)}]`;
    return `    ${key}: ${type}\n${docstring(schema.description)}`;
  });
  return `\nclass ${name}(TypedDict):\n${docstring(description)}${fields.join('')}`;
}

function dataclass(schemaName, { properties, required = [], description }) {
  const name = NAMES[schemaName] ?? schemaName;
  const fields = Object.entries(properties).map(([key, schema]) => {
    const type = typeOf(schema);
    const optional = required.includes(key) ? '' : ' = None';
    const value = SIGNED.includes(`${schemaName}.${key}`) ? ' = field(repr=False)' : optional;
    const nullable = optional === '' || type.endsWith('| None') ? type : `${type} | None`;
    return `    ${key}: ${nullable}${value}\n${docstring(schema.description)}`;
  });
  return `\n@dataclass(frozen=True, kw_only=True)\nclass ${name}:\n${docstring(description)}${fields.join('')}`;
}

const PLAIN = { string: 'str', number: 'float', integer: 'int', boolean: 'bool', null: 'None' };

function typeOf({
  $ref: reference,
  type,
  format,
  items,
  enum: values,
  const: constant,
  additionalProperties,
}) {
  if (reference !== undefined) {
    const name = reference.split('/').at(-1);
    return NAMES[name] ?? name;
  }
  if (constant !== undefined) return literal([constant]);
  if (values !== undefined) return literal(values);
  if (Array.isArray(type)) return type.map((one) => PLAIN[one]).join(' | ');
  if (type === 'array') return `list[${typeOf(items)}]`;
  if (type === 'object') return `dict[str, ${typeOf(additionalProperties)}]`;
  if (format === 'date-time') return 'datetime';
  return PLAIN[type];
}

function literal(values) {
  return `Literal[${values.map((value) => JSON.stringify(value)).join(', ')}]`;
}

function docstring(text, indent = '    ') {
  return text === undefined ? '' : `${indent}"""${text}"""\n`;
}

function without(schema, names) {
  const properties = Object.entries(schema.properties).filter(([name]) => !names.includes(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}
