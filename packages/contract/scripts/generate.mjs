// Writes src/generated/ here, and what both clients and the command have of openapi/openapi.yaml. With --check it writes
// nothing and fails when a file is out of date.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import openapiTypescript, { astToString } from 'openapi-typescript';
import { parse } from 'yaml';
import { pythonTypes } from './python-types.mjs';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const banner = '// Generated from openapi/openapi.yaml by scripts/generate.mjs. Do not edit.\n';

const source = await readFile(path.join(root, 'openapi/openapi.yaml'), 'utf8');
const document = parse(source, { uniqueKeys: true });
// Parsed again, because the type generator resolves references in place.
const types = astToString(await openapiTypescript(parse(source)));

const files = {
  'src/generated/document.ts': `${banner}export const openapiDocument = ${JSON.stringify(document, null, 2)} as const;\n`,
  'src/generated/openapi.ts': `${banner}${types}`,
  // The clients are published and this package is not, so they have the types as a file of their own.
  '../client/src/generated/contract.ts': `${banner}${await clientTypes(parse(source))}`,
  '../client-python/src/lipsync/_contract.py': pythonTypes(document),
  // So is the command, which explains errors.
  '../cli/src/generated/error-catalogue.ts': `${banner}export const ERROR_CATALOGUE = ${JSON.stringify(document['x-error-catalogue'], null, 2)} as const;\n`,
};

/** A named type for every schema, and for every error code its status and the places where it can occur. */
async function clientTypes({ openapi, info, components, 'x-error-catalogue': catalogue }) {
  const schemas = await openapiTypescript(
    { openapi, info, paths: {}, components: { schemas: components.schemas } },
    { rootTypes: true, rootTypesNoSchemaPrefix: true },
  );
  const unused = /^export (interface (paths|webhooks)|type (\$defs|operations|paths|webhooks)) .*\n/gm;
  const codes = Object.entries(catalogue).map(([code, { http_status: status, message, where }]) =>
    [
      `    /** ${message} */`,
      `    ${code}: { status: ${status}; where: ${where.map((place) => `"${place}"`).join(' | ')} };`,
    ].join('\n'),
  );
  return [
    astToString(schemas).replace(unused, ''),
    '/** Every error code, with the status of the response that carries it (null: none does) and where it occurs. */\n',
    `export interface ErrorCatalogue {\n${codes.join('\n')}\n}\n`,
  ].join('');
}

const check = process.argv.includes('--check');
const stale = [];
for (const [name, content] of Object.entries(files)) {
  const file = path.join(root, name);
  if ((await readFile(file, 'utf8').catch(() => null)) === content) continue;
  stale.push(name);
  if (!check) await writeFile(file, content);
}
if (check && stale.length > 0) {
  console.error(`Out of date: ${stale.join(', ')}. Run: node packages/contract/scripts/generate.mjs`);
  process.exit(1);
}
