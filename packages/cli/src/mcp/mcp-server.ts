import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio, StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { Session } from '../session/session';
import type { Workplace } from './call';
import { addDownloadTool } from './download-tool';
import { addExplainTool } from './explain-tool';
import type { Folders } from './folders';
import { addRecordTools } from './record-tools';
import { addRenderTools } from './render-tools';

/**
 * Serves the tools until the host closes standard input, or the process is asked to end. Calls that run then are
 * cancelled; their renders go on.
 */
export async function serveMcp(session: Session, folders: Folders, version: string): Promise<void> {
  const connection = await session.connection().catch(() => null);
  if (session.stdin.isTTY === true)
    session.say(
      'This is a server for an agent, which starts it itself; there is nothing to type here. Ctrl-C ends it.',
    );
  const workplace = { session, folders };
  const transport = new EndingTransport(session.stdin, session.stdout);
  const service = serveStdio(() => createServer(workplace, connection?.baseUrl, version), {
    transport,
    onerror: (error) => session.say(error.message),
  });
  session.interrupted.addEventListener('abort', () => void service.close(), { once: true });
  await transport.ended;
}

function createServer(workplace: Workplace, baseUrl: string | undefined, version: string): McpServer {
  const server = new McpServer(
    { name: 'lipsync', title: 'Lip-sync rendering', version },
    { instructions: instructions(workplace.folders, baseUrl) },
  );
  addRenderTools(server, workplace);
  addRecordTools(server, workplace);
  addDownloadTool(server, workplace);
  addExplainTool(server, workplace);
  return server;
}

function instructions({ all }: Folders, baseUrl: string | undefined): string {
  const documentation =
    baseUrl === undefined
      ? 'There is no API key yet: every call says what the user must set.'
      : `The documentation of the service, written for programs: ${baseUrl}/llms.txt`;
  return [
    'Renders videos of talking faces so that the mouth follows a voice. The usual way: render, wait until it is completed, download.',
    'A render takes from seconds to many minutes, and goes on whether or not anybody waits.',
    all.length === 0
      ? 'This server may not use files: pass media as https URLs or asset ids.'
      : `Files: only below ${all.join(', ')}. Relative paths start at ${all[0]}.`,
    documentation,
  ].join('\n');
}

/** Says when the host has gone. */
class EndingTransport extends StdioServerTransport {
  #end: () => void = () => undefined;
  readonly ended = new Promise<void>((resolve) => (this.#end = resolve));

  override async close(): Promise<void> {
    await super.close();
    this.#end();
  }
}
