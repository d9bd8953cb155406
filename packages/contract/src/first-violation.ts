import { type ErrorObject } from 'ajv/dist/2020';
import { openapiDocument } from './generated/document';

export interface Violation {
  /** JSON pointer into the value; '' is the whole value. */
  readonly path: string;
  /** Continues a sentence that begins with the path, for example "is required". */
  readonly reason: string;
}

/** Property names come from the caller, so long ones are truncated before they are echoed. */
const NAME_MAX = 64;

function child(path: string, property: string): string {
  return `${path}/${property.slice(0, NAME_MAX).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function depth(error: ErrorObject): number {
  return error.instancePath.split('/').length;
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

/** A parameter of the failed keyword, for the reasons below. */
function param(error: ErrorObject, name: string): unknown {
  const params: Readonly<Record<string, unknown>> = error.params;
  return params[name];
}

function list(value: unknown): string {
  return (Array.isArray(value) ? value : [value]).map(String).join(', ');
}

/** What is most often wrong with an address: it was copied from a browser, which shows it decoded. */
function formatAdvice(format: unknown): string {
  return format === 'uri' ? ', with spaces and characters outside ASCII percent-encoded' : '';
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
      return `must be a valid ${list(param(error, 'format'))}${formatAdvice(param(error, 'format'))}`;
    case 'pattern':
      return `must match ${list(param(error, 'pattern'))}`;
    case 'maxLength':
      return `must be at most ${list(param(error, 'limit'))} characters long`;
    case 'uniqueItems':
      return 'must not contain duplicates';
    case 'minItems':
      return `must hold at least ${list(param(error, 'limit'))} item`;
    case 'maxItems':
      return `must hold at most ${list(param(error, 'limit'))} items`;
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

/**
 * Turns the validator's errors into the first violation, with the error code from the schema annotation of its
 * property.
 */
export function firstViolation(errors: readonly ErrorObject[]): Violation & { readonly errorCode: unknown } {
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
