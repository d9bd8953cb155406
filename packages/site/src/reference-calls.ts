import { type OperationId } from '@lipsync/contract';

interface Call {
  readonly method: string;
  /** With an example in the place of the id. */
  readonly path: string;
  readonly body: unknown;
}

/** By which of its functions a client sends an operation; in both languages they have the same names. */
export const CLIENT_FUNCTIONS: Readonly<Record<OperationId, string>> = {
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
    fence('ts', 'TypeScript', `const answer = await client.${name}(${argument(call, typeScriptLiteral)});`),
    fence('py', 'Python', `answer = client.${name}(${argument(call, pythonArguments)})`),
  ].join('\n\n');
}

const fence = (language: string, title: string, code: string): string =>
  `\`\`\`${language} title="${title}"\n${code}\n\`\`\``;

function curl({ method, path, body }: Call): string {
  const lines = [`curl {{base_url}}${path}`, '-H "Authorization: Bearer $LIPSYNC_API_KEY"'];
  if (body !== undefined) lines.push('-H "Content-Type: application/json"', `-d '${json(body)}'`);
  else if (method === 'post') lines.push('-X POST');
  return lines.join(' \\\n  ');
}

const json = (value: unknown): string => JSON.stringify(value, null, 2);

/** Operations without a body take the id of their path. */
function argument({ path, body }: Call, write: (body: object) => string): string {
  const id = path.split('/').find((part) => /^[a-z]{3}_/.test(part));
  return typeof body === 'object' && body !== null ? write(body) : `'${id ?? ''}'`;
}

const typeScriptLiteral = (body: object): string =>
  json(body)
    .replaceAll(/^( +)"(\w+)":/gm, '$1$2:')
    .replaceAll('"', "'")
    .replaceAll(/([^{[,])\n/g, '$1,\n');

/** Examples hold texts, numbers, lists and objects, which both languages write alike. */
function pythonArguments(body: object): string {
  const lines = Object.entries(body).map(
    ([name, value]) => `    ${name}=${json(value).replaceAll('\n', '\n    ')},`,
  );
  return `\n${lines.join('\n')}\n`;
}
