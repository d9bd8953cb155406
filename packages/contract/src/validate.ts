import Ajv2020, { type ErrorObject, type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { type ErrorCode, isErrorCode } from './error-catalogue';
import { openapiDocument } from './generated/document';
import { type SchemaName, type Schemas } from './resources';

interface Violation {
  /** JSON pointer into the value; '' is the whole value. */
  readonly path: string;
  /** Continues a sentence that begins with the path, for example "is required". */
  readonly reason: string;
}

type Validation = { readonly ok: true } | ({ readonly ok: false; readonly code: ErrorCode } & Violation);

/**
 * Checks a value against a schema of the document, for requests and responses alike. A failure gives the first
 * violation: its place as a JSON pointer ('' is the whole body), the reason, and the error code to answer with. That is
 * `invalid_request`, or the property's own code if its type is right and its content is not.
 */
export function validate(schema: SchemaName, value: unknown): Validation {
  const validator = validatorOf(schema);
  if (validator(value)) return { ok: true };
  const violation = firstViolation(validator.errors ?? []);
  return { ok: false, code: codeOf(violation), path: violation.path, reason: violation.reason };
}

/** Says whether a value conforms to a schema, for a caller that does not need the reason if it does not. */
export function conforms<Name extends SchemaName>(schema: Name, value: unknown): value is Schemas[Name] {
  return validatorOf(schema)(value);
}

const DOCUMENT_ID = 'contract';
/**
 * The schema keyword that gives the error code for a property whose format has its own, such as `invalid_media_url`.
 */
const CODE_KEYWORD = 'x-error-code';

function createAjv(): Ajv2020 {
  // Not allErrors: only the first error is reported, and collecting all of them makes a hostile body far more
  // expensive.
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false, verbose: true });
  addFormats(ajv, ['uri', 'date-time']);
  ajv.addKeyword({ keyword: CODE_KEYWORD, schemaType: 'string', valid: true });
  ajv.addKeyword('components');
  // Ajv takes the whole document, so that its references resolve. Only the schemas in it are ever compiled.
  ajv.addSchema({ $id: DOCUMENT_ID, components: openapiDocument.components }, DOCUMENT_ID);
  return ajv;
}

const compiled = new Map<SchemaName, ValidateFunction>();
let ajv: Ajv2020 | undefined;

// Compiled on first use, so that importing the package costs nothing. Depends only on the document.
function validatorOf(schema: SchemaName): ValidateFunction {
  const known = compiled.get(schema);
  if (known) return known;
  ajv ??= createAjv();
  const validator = ajv.compile({ $ref: `${DOCUMENT_ID}#/components/schemas/${schema}` });
  compiled.set(schema, validator);
  return validator;
}

function codeOf(violation: Violation & { errorCode: unknown }): ErrorCode {
  const { errorCode } = violation;
  return typeof errorCode === 'string' && isErrorCode(errorCode) ? errorCode : 'invalid_request';
}

/**
 * Turns the validator's errors into the first violation, with the error code from the schema annotation of its
 * property.
 */
function firstViolation(errors: readonly ErrorObject[]): Violation & { readonly errorCode: unknown } {
  const error = decisive(errors);
  if (!error) return { path: '', reason: 'is not valid', errorCode: undefined };
  if (error.keyword === 'additionalProperties') {
    const property = String(param(error, 'additionalProperty'));
    return {
      path: child(error.instancePath, property),
      reason: 'is not a known property',
      errorCode: undefined,
    };
  }
  if (error.keyword === 'required') {
    return {
      path: child(error.instancePath, String(param(error, 'missingProperty'))),
      reason: 'is required',
      errorCode: undefined,
    };
  }
  return { path: error.instancePath, reason: reasonOf(error), errorCode: annotation(error) };
}

/**
 * A failed `oneOf` reports the errors of every branch. The caller meant the branch whose property is present, so an
 * error inside that property, or a property that no branch knows, says more than "matches none".
 */
function decisive(errors: readonly ErrorObject[]): ErrorObject | undefined {
  const last = errors.at(-1);
  if (last?.keyword !== 'oneOf') return errors[0];
  const known = branchProperties(last);
  const inner = errors.find((error) => depth(error) > depth(last));
  const unknown = errors.find(
    (error) =>
      error.keyword === 'additionalProperties' && !known.includes(String(param(error, 'additionalProperty'))),
  );
  return inner ?? unknown ?? last;
}

function depth(error: ErrorObject): number {
  return error.instancePath.split('/').length;
}

/** The properties that distinguish the branches of a `oneOf`: those that each branch requires. */
function branchProperties(error: ErrorObject): readonly string[] {
  const branches: readonly { readonly $ref?: string }[] = Array.isArray(error.schema) ? error.schema : [];
  return branches.flatMap((branch) => requiredOf(branch.$ref?.split('/').at(-1) ?? ''));
}

function requiredOf(schemaName: string): readonly string[] {
  const schemas: Readonly<Record<string, object>> = openapiDocument.components.schemas;
  const schema = schemas[schemaName];
  return schema && 'required' in schema && Array.isArray(schema.required) ? schema.required.map(String) : [];
}

/** Property names come from the caller, so long ones are truncated before they are echoed. */
const NAME_MAX = 64;

function child(path: string, property: string): string {
  return `${path}/${property.slice(0, NAME_MAX).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** A parameter of the failed keyword, for the reasons below. */
function param(error: ErrorObject, name: string): unknown {
  const params: Readonly<Record<string, unknown>> = error.params;
  return params[name];
}

function list(value: unknown): string {
  return (Array.isArray(value) ? value : [value]).map(String).join(', ');
}

/** A URL is most often invalid because it was copied from a browser, which shows it decoded. */
function formatReason(format: string): string {
  const name = format === 'uri' ? 'URL, with spaces and non-ASCII characters percent-encoded' : format;
  return `must be a valid ${name}`;
}

/** Puts a pattern in words if it only says how a value begins. */
function patternReason(pattern: string): string {
  const beginning = /^\^([\w:/-]+)$/.exec(pattern)?.[1];
  return beginning === undefined ? `must match ${pattern}` : `must begin with ${beginning}`;
}

function reasonOf(error: ErrorObject): string {
  switch (error.keyword) {
    case 'enum':
      return `must be one of ${list(param(error, 'allowedValues'))}`;
    case 'const':
      return `must be ${JSON.stringify(param(error, 'allowedValue'))}`;
    case 'type':
      return `must be of type ${list(param(error, 'type')).replace(',', ' or')}`;
    case 'format':
      return formatReason(list(param(error, 'format')));
    case 'pattern':
      return patternReason(list(param(error, 'pattern')));
    case 'maxLength':
      return `must be at most ${list(param(error, 'limit'))} characters long`;
    case 'uniqueItems':
      return 'must not contain duplicates';
    case 'minItems':
      return `must contain at least ${list(param(error, 'limit'))} item`;
    case 'maxItems':
      return `must contain at most ${list(param(error, 'limit'))} items`;
    case 'minimum':
      return `must be at least ${list(param(error, 'limit'))}`;
    case 'maximum':
      return `must be at most ${list(param(error, 'limit'))}`;
    case 'oneOf':
      return `must be an object with exactly one property: ${branchProperties(error).join(' or ')}`;
    default:
      return error.message ?? 'is not valid';
  }
}

function annotation(error: ErrorObject): unknown {
  const schema: unknown = error.parentSchema;
  const aboutContent = ['pattern', 'format', 'maxLength'].includes(error.keyword);
  if (!aboutContent || typeof schema !== 'object' || schema === null) return undefined;
  return 'x-error-code' in schema ? schema['x-error-code'] : undefined;
}
