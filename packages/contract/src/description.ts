import { openapiDocument } from './generated/document';
import { type Operation } from './operations';

/** The part of a JSON schema that the contract uses. */
export interface Schema {
  /** The reference to a named schema, as `nameIn` reads it. */
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly format?: string;
  readonly items?: Schema;
  readonly oneOf?: readonly Schema[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxLength?: number;
}

/** A parameter of a path or a header. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema: Schema;
  readonly example: string;
}

interface Example {
  readonly name: string;
  readonly value: unknown;
}

/** What is shown of an operation to people, with every reference resolved. */
export interface OperationDescription {
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly parameters: readonly Parameter[];
  /** Bodies to send; none if the operation takes none. */
  readonly requests: readonly Example[];
  /** Bodies of its success, at least one. */
  readonly answers: readonly Example[];
}

interface Ref {
  readonly $ref: string;
}

interface Body {
  /** Errors, which operations share, are references. */
  readonly $ref?: string;
  readonly content?: { readonly 'application/json': { readonly examples: Readonly<Record<string, Ref>> } };
}

interface SourceOperation {
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly Ref[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}

const PATHS: Readonly<Record<string, Readonly<Record<string, SourceOperation>>>> = openapiDocument.paths;
const PARAMETERS: Readonly<Record<string, Parameter>> = openapiDocument.components.parameters;
const EXAMPLES: Readonly<Record<string, { readonly value: unknown }>> = openapiDocument.components.examples;

/** Every named schema of the document, in its order. */
export const SCHEMAS: Readonly<Record<string, Schema>> = openapiDocument.components.schemas;

/** The name at the end of a reference: `Record` of `#/components/schemas/Record`. */
export const nameIn = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

/** What the document says of an operation beside how it is called. */
export function descriptionOf({ path, method, successStatus }: Operation): OperationDescription {
  const source = PATHS[path]?.[method];
  if (source === undefined) throw new Error(`The contract has no ${method} ${path}`);
  const { tags, summary, description, parameters = [], requestBody, responses } = source;
  return {
    tag: tags[0],
    summary,
    description,
    parameters: parameters.map(({ $ref }) => named(PARAMETERS, $ref)),
    requests: examplesOf(requestBody),
    answers: examplesOf(responses[String(successStatus)]),
  };
}

function examplesOf(body: Body | undefined): readonly Example[] {
  const examples = body?.content?.['application/json'].examples ?? {};
  return Object.entries(examples).map(([name, { $ref }]) => ({ name, value: named(EXAMPLES, $ref).value }));
}

function named<T>(parts: Readonly<Record<string, T>>, ref: string): T {
  const part = parts[nameIn(ref)];
  if (part === undefined) throw new Error(`The contract has no ${ref}`);
  return part;
}
