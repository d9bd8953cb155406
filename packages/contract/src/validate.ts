import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { type ErrorCode, isErrorCode } from './error-catalogue';
import { firstViolation, type Violation } from './first-violation';
import { openapiDocument } from './generated/document';
import { type SchemaName, type Schemas } from './resources';

export type Validation =
  { readonly ok: true } | ({ readonly ok: false; readonly code: ErrorCode } & Violation);

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
