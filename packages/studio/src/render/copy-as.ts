import { version as pythonVersion } from '@lipsync/client-python/package.json';

/** One render, as a person would repeat it. */
export interface RenderToCopy {
  readonly baseUrl: string;
  readonly engines: readonly string[];
  readonly syncMode: string;
  readonly preparationId?: string;
  readonly video: InputToCopy;
  readonly voice: InputToCopy;
}

/** A file by its name here and, once uploaded, by its asset; or a URL. */
export type InputToCopy = { readonly name: string; readonly assetId: string } | { readonly url: string };

export const COPY_FORMS = ['command', 'TypeScript', 'Python', 'curl', 'agent'] as const;
export type CopyForm = (typeof COPY_FORMS)[number];

export function copyAs(form: CopyForm, render: RenderToCopy): string {
  switch (form) {
    case 'command':
      return asCommand(render);
    case 'TypeScript':
      return asTypeScript(render);
    case 'Python':
      return asPython(render);
    case 'curl':
      return asCurl(render);
    case 'agent':
      return forAnAgent(render);
  }
}

function asCommand({ baseUrl, video, voice, engines, syncMode, preparationId }: RenderToCopy): string {
  const inputs = [video, voice].map((input) =>
    shellWord('url' in input ? input.url : fileArgument(input.name)),
  );
  const lines = [
    `npx -y --allow-remote=root ${shellWord(`${baseUrl}/downloads/lipsync-cli.tgz`)} render ${inputs.join(' ')}`,
    `  --engines ${engines.join(',')} --sync-mode ${syncMode}`,
    ...(preparationId === undefined ? [] : [`  --preparation ${preparationId}`]),
  ];
  return `export LIPSYNC_BASE_URL=${shellWord(baseUrl)}\n${lines.join(' \\\n')}`;
}

function asTypeScript({ baseUrl, video, voice, engines, syncMode, preparationId }: RenderToCopy): string {
  const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
  const input = (value: InputToCopy): string => literal('url' in value ? value.url : value.name);
  return `// npm install --allow-remote=root ${baseUrl}/downloads/lipsync-client.tgz
import { LipSync } from '@lipsync/client';

const client = new LipSync({ baseUrl: ${literal(baseUrl)}, apiKey: process.env.LIPSYNC_API_KEY });
const render = await client.renders.create({
  video: ${input(video)},
  audio: ${input(voice)},
  engines: [${engines.map(literal).join(', ')}],
  sync_mode: ${literal(syncMode)},${preparationId === undefined ? '' : `\n  preparation_id: ${literal(preparationId)},`}
});
await client.renders.wait(render);
${engines.map((engine) => `await client.outputs.download(render.id, ${literal(engine)}, ${literal(`${engine}.mp4`)});`).join('\n')}`;
}

function asPython({ baseUrl, video, voice, engines, syncMode, preparationId }: RenderToCopy): string {
  // What JSON writes as a string, Python reads as the same.
  const literal = (text: string): string => JSON.stringify(text);
  const input = (value: InputToCopy): string => literal('url' in value ? value.url : value.name);
  return `# pip install ${baseUrl}/downloads/lipsync_client-${pythonVersion}-py3-none-any.whl
from lipsync import LipSync

client = LipSync(base_url=${literal(baseUrl)})  # the key is in LIPSYNC_API_KEY
render = client.renders.create(
    video=${input(video)},
    audio=${input(voice)},
    engines=[${engines.map(literal).join(', ')}],
    sync_mode=${literal(syncMode)},${preparationId === undefined ? '' : `\n    preparation_id=${literal(preparationId)},`}
)
client.renders.wait(render)
${engines.map((engine) => `client.outputs.download(render.id, ${literal(engine)}, ${literal(`${engine}.mp4`)})`).join('\n')}`;
}

/** For an agent that has a terminal, or the tools of `lipsync mcp`. */
function forAnAgent({ baseUrl, video, voice, engines, syncMode, preparationId }: RenderToCopy): string {
  const input = (value: InputToCopy): string => JSON.stringify('url' in value ? value.url : value.name);
  return [
    `Read ${baseUrl}/llms.txt. Then render this with the service it describes:`,
    `- video: ${input(video)}`,
    `- voice: ${input(voice)}`,
    `- engines: ${engines.join(', ')}`,
    `- sync mode: ${syncMode}`,
    ...(preparationId === undefined ? [] : [`- preparation: ${preparationId}`]),
    'Wait for the end, and save the result of each engine beside the video. If an engine fails, say why and what to change.',
    'The API key is in the environment variable LIPSYNC_API_KEY; never print it.',
  ].join('\n');
}

/** With the assets of this render, because an upload by curl takes three requests of its own. */
function asCurl({ baseUrl, video, voice, engines, syncMode, preparationId }: RenderToCopy): string {
  const input = (value: InputToCopy): object =>
    'url' in value ? { url: value.url } : { asset_id: value.assetId };
  const body = {
    video: input(video),
    audio: input(voice),
    engines,
    sync_mode: syncMode,
    ...(preparationId === undefined ? {} : { preparation_id: preparationId }),
  };
  return [
    `curl ${shellWord(`${baseUrl}/v1/renders`)}`,
    '  -H "Authorization: Bearer $LIPSYNC_API_KEY"',
    "  -H 'Content-Type: application/json'",
    `  -d ${shellQuoted(JSON.stringify(body, null, 2))}`,
  ].join(' \\\n');
}

/** A name that begins with a dash would be an option. */
function fileArgument(name: string): string {
  return name.startsWith('-') ? `./${name}` : name;
}

function shellWord(text: string): string {
  return /^[\w./:@%+,=-]+$/.test(text) ? text : shellQuoted(text);
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
