import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { type ErrorCode, isErrorCode } from './error-catalogue';
import { firstViolation, type Violation } from './first-violation';
import { openapiDocument } from './generated/document';
import { type SchemaName, type Schemas } from './resources';

export type Validation =
  { readonly ok: true } | ({ readonly ok: false; readonly code: ErrorCode } & Violation);

const DOCUMENT_ID = 'contract';
/** Names the code of a violated property whose format has a code of its own, for example `invalid_media_url`. */
const CODE_KEYWORD = 'x-error-code';

function createAjv(): Ajv2020 {
  // Not allErrors: the first error is the answer, and collecting all of them lets a hostile body cost much more.
  const ajv = new Ajv2020({ strict: true, allowUnionTypes: true, allErrors: false, verbose: true });
  addFormats(ajv, ['uri', 'date-time']);
  ajv.addKeyword({ keyword: CODE_KEYWORD, schemaType: 'string', valid: true });
  ajv.addKeyword('components');
  // Ajv takes the document itself, so that its references resolve; only the schemas in it are ever compiled.
  ajv.addSchema({ $id: DOCUMENT_ID, components: openapiDocument.components }, DOCUMENT_ID);
  return ajv;
}

const compiled = new Map<SchemaName, ValidateFunction>();
let ajv: Ajv2020 | undefined;

// Compiled at first use, so that importing the package costs nothing; a pure function of the document.
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
 * Checks a value against a schema of the document, request or response alike.
 * A failure names the first violation: its place as a JSON pointer ('' is the whole body), the reason, and the error
 * code to answer with: `invalid_request`, or the code of the property when its type is right and its content is not.
 */
export function validate(schema: SchemaName, value: unknown): Validation {
  const validator = validatorOf(schema);
  if (validator(value)) return { ok: true };
  const violation = firstViolation(validator.errors ?? []);
  return { ok: false, code: codeOf(violation), path: violation.path, reason: violation.reason };
}

/** Says whether a value is of a schema, for a caller who need not know why it is not. */
export function conforms<Name extends SchemaName>(schema: Name, value: unknown): value is Schemas[Name] {
  return validatorOf(schema)(value);
}
