import { type OperationId } from '@lipsync/contract';

interface Call {
  readonly method: string;
  /** With an example in the place of the id. */
  readonly path: string;
  readonly body: unknown;
}

/** By which of its functions a client sends an operation; in both languages they have the same names. */
const CLIENT_FUNCTIONS: Readonly<Record<OperationId, string>> = {
  create_render: 'renders.create',
  get_render: 'renders.get',
  cancel_render: 'renders.cancel',
  create_preparation: 'preparations.create',
  get_preparation: 'preparations.get',
  create_upload: 'uploads.begin',
  complete_upload: 'uploads.complete',
  create_asset: 'assets.create',
  get_asset: 'assets.get',
  get_webhook: 'webhooks.get',
};

/** The example of an operation in each language, as tabs. */
export function callsOf(operationId: OperationId, call: Call): string {
  const name = CLIENT_FUNCTIONS[operationId];
  return [
    fence('sh', 'curl', curl(call)),
    fence('ts', 'TypeScript', typeScript(name, call)),
    fence('py', 'Python', python(name, call)),
  ].join('\n\n');
}

const fence = (language: string, title: string, code: string): string =>
  `\`\`\`${language} title="${title}"\n${code}\n\`\`\``;

function curl({ method, path, body }: Call): string {
  const lines = [`curl {{base_url}}${path}`, '-H "Authorization: Bearer $LIPSYNC_API_KEY"'];
  if (isObject(body)) {
    const fields = Object.entries(body).map(([name, value]) => `    "${name}": ${inline(value)}`);
    lines.push('-H "Content-Type: application/json"', `-d '{\n${fields.join(',\n')}\n  }'`);
  } else if (method === 'post') lines.push('-X POST');
  return lines.join(' \\\n  ');
}

function typeScript(name: string, { path, body }: Call): string {
  if (!isObject(body)) return `await client.${name}('${idIn(path)}');`;
  const fields = Object.entries(body).map(([field, value]) => `  ${field}: ${literal(value)},`);
  return `await client.${name}({\n${fields.join('\n')}\n});`;
}

function python(name: string, { path, body }: Call): string {
  if (!isObject(body)) return `client.${name}("${idIn(path)}")`;
  const fields = Object.entries(body).map(([field, value]) => `    ${field}=${inline(value)},`);
  return `client.${name}(\n${fields.join('\n')}\n)`;
}

const isObject = (body: unknown): body is object => typeof body === 'object' && body !== null;

/** Operations without a body take the id of their path. */
const idIn = (path: string): string => path.split('/').find((part) => /^[a-z]{3}_/.test(part)) ?? '';

/** JSON on one line. Examples hold texts, numbers, lists and objects, which Python writes alike. */
const inline = (value: unknown): string =>
  JSON.stringify(value, null, 1)
    .replaceAll(/(?<=[[{])\n\s*|\n\s*(?=[\]}])/g, '')
    .replaceAll(/\n\s*/g, ' ');

const literal = (value: unknown): string =>
  inline(value)
    .replaceAll(/"(\w+)":/g, '$1:')
    .replaceAll(/(?<=\{)(?=\w)|(?<=[^{])(?=\})/g, ' ')
    .replaceAll('"', "'");
