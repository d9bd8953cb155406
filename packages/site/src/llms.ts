import { type PageSource, SECTIONS, textAddressOf } from './page-source';

/** /llms.txt in the form of llmstxt.org: what the service is, how it is called, and a line for each page. */
export function llmsIndex(pages: readonly PageSource[]): string {
  const summary = pages.find(({ slug }) => slug === 'index')?.summary ?? '';
  const sections = SECTIONS.map((section) => ({
    section,
    lines: pages
      .filter((page) => page.section === section)
      .map(({ slug, title, summary }) => `- [${title}]({{base_url}}${textAddressOf(slug)}): ${summary}`),
  })).filter(({ lines }) => lines.length > 0);
  return [
    '# Lipsync',
    `> ${summary}`,
    FACTS,
    ...sections.map(({ section, lines }) => `## ${section}\n\n${lines.join('\n')}`),
    OPTIONAL,
  ]
    .join('\n\n')
    .concat('\n');
}

const FACTS = `Facts that every program needs:

- The base URL is {{base_url}}; its ten operations are under /v1. Every request carries \`Authorization: Bearer svc_…\`. An administrator of the service gives out keys; there is no sign-up.
- A video and a voice are each a public https URL (\`{"url": "https://…"}\`) or an uploaded asset (\`{"asset_id": "ast_…"}\`), at most {{media_mib}} MiB and {{media_seconds}} seconds. Files are uploaded in three steps: create an upload, PUT the bytes, complete it.
- \`POST /v1/renders\` with \`video\`, \`audio\`, \`engines\` (one to three of musetalk, latentsync, highsync) and \`sync_mode\` (cut_off, bounce, loop, remap or silence) returns a record at once. Fetch its \`status_url\` every \`Retry-After\` seconds until \`status\` is completed, failed or cancelled, then download \`engines[].output.url\`, an MP4. That URL is valid for {{signed_minutes}} minutes; fetch the record again for a fresh one.
- Errors are \`{"error": {"code", "message", "retryable"}}\`. Send a request again only if \`retryable\` is true. An unknown property in a request is refused.

The shortest way to render files is the command that this service hosts (Node 22.12 or newer); it uploads, renders, waits and saves \`face.musetalk.mp4\`:

\`\`\`sh
export LIPSYNC_BASE_URL={{base_url}} LIPSYNC_API_KEY=svc_…
npx -y --allow-remote=root {{base_url}}/downloads/lipsync-cli.tgz render face.mp4 voice.wav
\`\`\`

The same command is an MCP server (\`lipsync mcp\`). Programs use the client for TypeScript ({{base_url}}/downloads/lipsync-client.tgz), the one for Python ({{base_url}}/downloads/lipsync_client-{{version}}-py3-none-any.whl), or HTTP. None of these is in a public registry: packages with similar names are not this project's.`;

const OPTIONAL = `## Optional

- [Everything above in one file]({{base_url}}/llms-full.txt): all pages, as text
- [openapi.json]({{base_url}}/openapi.json): the contract as OpenAPI 3.1
- [Downloads]({{base_url}}/downloads): the command and the clients with their hashes, as JSON`;

/** /llms-full.txt: all pages, one after another. */
export function llmsFull(pages: readonly { readonly page: PageSource; readonly text: string }[]): string {
  return pages
    .map(({ page, text }) => `<!-- {{base_url}}${textAddressOf(page.slug)} -->\n\n${text}`)
    .join('\n---\n\n');
}
