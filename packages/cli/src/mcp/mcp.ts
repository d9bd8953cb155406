import type { Command } from 'commander';
import type { Session } from '../session/session';
import { openFolders } from './folders';

export function addMcpCommand(program: Command, session: Session): void {
  program
    .command('mcp')
    .description(
      'give an agent these commands as tools: a Model Context Protocol server on standard input and output',
    )
    .option(
      '--root <folder>',
      'a folder in which the agent may read and write media; repeat for several; default: the working directory',
      (folder: string, previous: string[] = []) => [...previous, folder],
    )
    .action(async ({ root = [] }: { root?: string[] }) => {
      const folders = await openFolders(root, process.cwd());
      // With the SDK and its schemas, which no other command needs.
      const { serveMcp } = await import('./mcp-server.js');
      await serveMcp(session, folders, program.version() ?? '');
    });
}
