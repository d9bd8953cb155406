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

- The base address is {{base_url}}; its ten operations are under /v1.
- Every request carries \`Authorization: Bearer svc_…\`. An administrator of the service gives out keys; there is no sign-up.
- Work is asynchronous: \`POST /v1/renders\` answers a record at once. Fetch its \`status_url\` every \`Retry-After\` seconds until \`status\` is completed, failed or cancelled, then download \`engines[].output.url\`.
- A video and a voice are each an https address (\`{"url": …}\`) or an uploaded asset (\`{"asset_id": …}\`). Engines are musetalk, latentsync and highsync; sync modes are cut_off, bounce, loop, remap and silence.
- Errors are \`{"error": {"code", "message", "retryable"}}\`. Send a request again only if \`retryable\` is true.
- Objects are closed: a field that the reference does not list is refused.`;

const OPTIONAL = `## Optional

- [Everything above in one file]({{base_url}}/llms-full.txt): all pages, as text
- [openapi.json]({{base_url}}/openapi.json): the contract as OpenAPI 3.1`;

/** /llms-full.txt: all pages, one after another. */
export function llmsFull(pages: readonly { readonly page: PageSource; readonly text: string }[]): string {
  return pages
    .map(({ page, text }) => `<!-- {{base_url}}${textAddressOf(page.slug)} -->\n\n${text}`)
    .join('\n---\n\n');
}
