import {
  nameIn,
  type Operation,
  type OperationId,
  OPERATIONS,
  type Schema,
  SCHEMAS,
} from '@lipsync/contract';
import { REFUSED_URLS } from '@lipsync/testkit';
import fc from 'fast-check';

/** A request as it goes over the wire, and the operation whose answers it may get; null if its path has none. */
export interface FuzzedRequest {
  operationId: OperationId | null;
  method: string;
  path: string;
  headers: Record<string, string | string[]>;
  body: Buffer | undefined;
}

interface FuzzingOptions {
  apiKey: string;
  /** Valid strings by the name of their property. */
  examples: Readonly<Record<string, readonly string[]>>;
  /** Ids for paths: the caller's own of every kind, and those of another customer. */
  ids: readonly string[];
  /** Part of what no log may hold: bodies, header fields and queries. */
  marker: string;
}

type Examples = FuzzingOptions['examples'];

/** Values that conform to a schema of the contract. */
function conforming(schema: Schema, examples: Examples, name = ''): fc.Arbitrary<unknown> {
  const { $ref, oneOf, properties, items, maxItems, maxLength } = schema;
  const known = examples[name];
  if (known !== undefined) return fc.constantFrom(...known);
  if ($ref !== undefined) return conforming(SCHEMAS[nameIn($ref)] ?? {}, examples, name);
  if (oneOf !== undefined) return fc.oneof(...oneOf.map((branch) => conforming(branch, examples, name)));
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (items !== undefined)
    return fc.uniqueArray(conforming(items, examples), {
      minLength: schema.minItems ?? 0,
      maxLength: maxItems ?? 5,
    });
  if (properties !== undefined) {
    const fields = Object.entries(properties).map(([key, value]) => [key, conforming(value, examples, key)]);
    const record = Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>;
    return fc.record(record, { requiredKeys: [...(schema.required ?? [])], noNullPrototype: true });
  }
  if (schema.type === 'integer')
    return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 2 ** 31 });
  return fc.string(maxLength === undefined ? {} : { maxLength });
}

/** Text that goes into the JSON as it is: no JavaScript value is written like that. */
const raw = (text: string): string => `@@${text}@@`;
const written = (value: unknown): string => JSON.stringify(value).replaceAll(/"@@(.*?)@@"/g, '$1');

const nested = (open: string, close: string): string => open.repeat(8_000) + close.repeat(8_000);
const STRANGE_NUMBERS = ['-0', '1e400', '-1e400', '9007199254740993', '1e-400', '0.1', '-1', '9'.repeat(400)];
const STRANGE_STRINGS = [
  ...'| |\0|a\0b|\ud800|\udfff\ud800|\u202e|\ufeff|ＡＢ|👩‍👩‍👧‍👦|e\u0301|a\r\nX-A: b'.split('|'),
  ..."__proto__|constructor|null|0|../../etc/passwd|' OR 1=1 --|${7*7}|%00".split('|'),
  ...['k'.repeat(128), 'k'.repeat(129), '😀'.repeat(128), 'x'.repeat(60_000)],
];
const STRANGE_KEYS = [
  'x'.repeat(5_000),
  ...'__proto__|constructor|toString||a/b~c|\0|\ud800|VIDEO|id'.split('|'),
];

function strangeValues({ ids, marker }: FuzzingOptions): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.constantFrom(...STRANGE_STRINGS, ...REFUSED_URLS, ...ids, marker, `https://${marker}/`),
    fc.constantFrom(...STRANGE_NUMBERS, nested('[', ']'), nested('{"a":', '}').replace(':}', ':1}')).map(raw),
    fc.constantFrom<unknown>(null, true, [], {}, { length: 1 }, JSON.parse('{"__proto__":{"admin":true}}')),
    fc.jsonValue(),
  );
}

interface Change {
  kind: 'replace' | 'remove' | 'add' | 'rename';
  at: number;
  key: string;
  value: unknown;
}

const OWN_PROPERTY = { enumerable: true, configurable: true, writable: true };

/** Applies a change somewhere in a JSON value; returns the changed copy. */
function changed(body: unknown, { kind, at, key, value }: Change): unknown {
  const copy: unknown = structuredClone(body);
  const places = placesIn(copy);
  const place = places[at % Math.max(1, places.length)];
  if (place === undefined) return value;
  const [parent, name] = place;
  // An assignment to `__proto__` would change the prototype, where a parser defines a property.
  const set = (property: string, content: unknown) =>
    Reflect.defineProperty(parent, property, { ...OWN_PROPERTY, value: content });
  if (kind === 'replace') set(name, value);
  else if (kind === 'add') set(key, value);
  else {
    if (kind === 'rename') set(key, Object.getOwnPropertyDescriptor(parent, name)?.value);
    Reflect.deleteProperty(parent, name);
  }
  return copy;
}

function placesIn(value: unknown): [parent: object, name: string][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, child]) => [
    [value, name] as [object, string],
    ...placesIn(child),
  ]);
}

/** Damage to the text of a body. */
const TEXT_DAMAGES: readonly ((text: string) => string | Buffer)[] = [
  (text) => text.slice(0, text.length / 2),
  (text) => `${text}${text}`,
  (text) => `${text}\0`,
  (text) => `\ufeff${text}`,
  (text) => Buffer.from(text, 'utf16le'),
  (text) => Buffer.concat([Buffer.from(text.slice(0, 9)), Buffer.from([0xff, 0xc0]), Buffer.from(text)]),
  (text) => text.replace(/^\{("[^"]*"):/, '{$1:null,$1:'),
  (text) => text.replaceAll('"', "'"),
  (text) => `[${text}]`,
  (text) => text.replace('{', `{"padding":"${'x'.repeat(70_000)}",`),
  (text) => text.replace('{', `${' '.repeat(40_000)}{`),
  () => nested('[', ''),
  () => '',
];

const field = (name: string, ...values: (string | string[] | undefined)[]) =>
  values.map((value): HeaderChange => ({ [name]: value }));
type HeaderChange = Record<string, string | string[] | undefined>;

/** Changes to the header fields; a field without a value is left out. */
function headerChanges({ apiKey, marker }: FuzzingOptions): HeaderChange[] {
  return [
    ...field(
      'content-type',
      undefined,
      '',
      'text/plain',
      'application/json; charset=utf-16',
      'a'.repeat(8_000),
    ),
    ...field(
      'content-type',
      'application/JSON;charset="UTF-8"',
      'application/jsonx',
      'application/json, text/html',
    ),
    ...field('authorization', undefined, '', 'Bearer', apiKey, `Basic ${marker}`, `Bearer ${marker}`),
    ...field(
      'authorization',
      `Bearer ${apiKey}0`,
      `Bearer ${apiKey} ${apiKey}`,
      `Bearer svc_${'0'.repeat(64)}`,
    ),
    ...field('authorization', `bearer   ${apiKey}`, `Bearer ${apiKey.toUpperCase()}`),
    ...field(
      'idempotency-key',
      '',
      'a',
      marker,
      'k'.repeat(129),
      'ÿ'.repeat(100),
      'Ã©',
      ['a', 'a'],
      ['a', 'b'],
    ),
    ...field('content-encoding', 'gzip', 'identity', 'br, gzip'),
    ...field('expect', '100-continue', 'the unexpected'),
    ...field('x-request-id', `/${marker}`, 'a b', '"', 'r'.repeat(129)),
    ...field('x-forwarded-for', '', '127.0.0.1', `${marker}, ::1`, ','.repeat(1_000)),
    { 'x-http-method-override': 'DELETE', 'x-original-url': '/healthz', 'x-rewrite-url': '/docs' },
    { host: marker, forwarded: `for=${marker}`, 'x-forwarded-host': marker, 'x-forwarded-proto': 'gopher' },
    { traceparent: `00-${'0'.repeat(32)}-${'f'.repeat(16)}-01`, tracestate: marker, baggage: marker },
    { accept: 'text/html', range: 'bytes=0-1', 'if-none-match': '*', cookie: marker, origin: marker },
    { 'transfer-encoding': 'chunked' },
    Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`x-many-${i}`, 'x'.repeat(40)])),
  ];
}

const METHODS = 'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE PROPFIND SUBSCRIBE'.split(' ');
const STRANGE_IDS = [
  ...'x . .. %00 %2e%2e%2f %252e %ff % %E2%82 * {id} ; null 0 -1'.split(' '),
  ...['ren_00000000000000000000000000', 'REN_00000000000000000000000000', `ren_${'0'.repeat(7_000)}`],
];
const PATH_DAMAGES: readonly ((path: string, marker: string) => string)[] = [
  (path, marker) => `${path}?token=${marker}&__proto__[x]=1`,
  (path, marker) => `${path}#${marker}`,
  (path) => `${path}/`,
  (path) => `${path}//`,
  (path) => `${path}/cancel/complete`,
  (path) => path.replace('/v1/', '/v1//'),
  (path) => path.replace('/v1/', '/v1/../v1/'),
  (path) => path.replace('/v1/', '/v1/%2e%2e/'),
  (path) => path.replace('s', 'S'),
  (path) => path.replace('s', '%73'),
  (path) => `http://elsewhere.example.test${path}`,
];

/** What the contract says an id in a path, or none, belongs to; paths are matched as they are sent. */
function operationAt(target: string): OperationId | null {
  const path = target.replace(/^http:\/\/[^/]*/, '').replace(/[?#].*$/s, '');
  const fits = ({ path: template }: Operation) =>
    new RegExp(`^${template.replace('{id}', '[^/]+')}/?$`).test(path);
  return OPERATIONS.find(fits)?.operationId ?? null;
}

/** Requests of every operation: some valid, most with up to three damages to body, header, method or path. */
export function fuzzedRequests(options: FuzzingOptions): fc.Arbitrary<FuzzedRequest> {
  return fc.oneof(...OPERATIONS.map((operation) => requestsOf(operation, options)));
}

function requestsOf(operation: Operation, options: FuzzingOptions): fc.Arbitrary<FuzzedRequest> {
  const { examples, ids, marker } = options;
  const schema = operation.requestSchema === null ? undefined : SCHEMAS[operation.requestSchema];
  const change = fc.record<Change>({
    kind: fc.constantFrom('replace', 'replace', 'remove', 'add', 'rename'),
    at: fc.nat(20),
    key: fc.constantFrom(...STRANGE_KEYS),
    value: strangeValues(options),
  });
  const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 4 });
  const parts = fc.record({
    id: fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...ids) }, fc.constantFrom(...STRANGE_IDS)),
    address: fc.ipV4(),
    body: schema === undefined ? fc.constant(undefined) : conforming(schema, examples),
    changes: fc.array(change, { maxLength: 2 }),
    textDamage: sometimes(fc.constantFrom(...TEXT_DAMAGES)),
    headers: sometimes(fc.constantFrom(...headerChanges(options))),
    method: sometimes(fc.constantFrom(...METHODS)),
    pathDamage: sometimes(fc.constantFrom(...PATH_DAMAGES)),
    /** Which kinds of damage this request gets. */
    damaged: fc.subarray(['body', 'text', 'headers', 'method', 'path'] as const, { maxLength: 2 }),
  });
  return parts.map(({ id, address, damaged, ...part }) => {
    const has = (kind: (typeof damaged)[number]) => damaged.includes(kind);
    const body = has('body') ? part.changes.reduce(changed, part.body) : part.body;
    const text = body === undefined ? undefined : written(body);
    const content = has('text') ? part.textDamage?.(text ?? '{}') : undefined;
    const plain = operation.path.replace('{id}', id);
    const path = (has('path') ? part.pathDamage?.(plain, marker) : undefined) ?? plain;
    const headers = {
      authorization: `Bearer ${options.apiKey}`,
      // Each from an address of its own, because one that fails too often gets only 429.
      'x-forwarded-for': address,
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
      ...(has('headers') ? part.headers : {}),
    };
    const bytes = content ?? text;
    return {
      operationId: operationAt(path),
      method: (has('method') ? part.method : undefined) ?? operation.method.toUpperCase(),
      path,
      headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined)),
      body: bytes === undefined ? undefined : Buffer.from(bytes),
    };
  });
}
