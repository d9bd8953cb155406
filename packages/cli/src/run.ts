import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Command, CommanderError } from 'commander';
import { addCompletionCommands } from './completion/completion';
import { CommandError, EXIT_CODES } from './failures/exit-codes';
import { failureDocument, failureOf } from './failures/failures';
import { SEE_CONNECTION } from './failures/refusals';
import { addLoginCommands } from './login/login';
import { addMcpCommand } from './mcp/mcp';
import { addListCommand } from './render/list';
import { addMediaCommands } from './render/media';
import { addRecordCommands } from './render/records';
import { addRenderCommands } from './render/render';
import {
  createSession,
  type GlobalOptions,
  interruption,
  type Session,
  styled,
  type Surroundings,
} from './session/session';
import { printDocument, printLine, printText } from './terminal/print';
import { addVerifyCommand } from './verify';
import { addWebhookCommands } from './webhook/webhook';

/** Runs one command; resolves to its exit code. */
export async function run(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const program = new Command('lipsync');
  const session = createSession(surroundings, () => program.opts<GlobalOptions>());
  configure(program, session);
  let running: string | undefined;
  program.hook('preAction', (_, command) => {
    running = command.name();
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return EXIT_CODES.ok;
  } catch (error) {
    return report(error, { args, running }, session);
  }
}

function configure(program: Command, session: Session): void {
  program
    .description('Renders a video so that its mouth follows a voice.')
    .version(version(), '-V, --version', 'print the version')
    .option('--json', 'print one JSON document instead of text')
    .option('-q, --quiet', 'print no progress, and no messages except errors')
    .option('--profile <name>', 'the login to use; default: LIPSYNC_PROFILE, else the current one')
    .option('--base-url <url>', 'the URL of the service; default: LIPSYNC_BASE_URL, else that of the profile')
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => printText(session.stdout, text),
      writeErr: (text) => printText(session.stderr, text),
    })
    .showHelpAfterError('Run it with --help for its arguments and options.')
    .exitOverride()
    .addHelpText('after', `\n${EXAMPLES}`);
  for (const add of [
    addRenderCommands,
    addMediaCommands,
    addRecordCommands,
    addListCommand,
    addWebhookCommands,
    addMcpCommand,
    addVerifyCommand,
    addLoginCommands,
    addCompletionCommands,
  ])
    add(program, session);
}

const EXAMPLES = `Begin with:
  lipsync login --base-url https://api.example.com
  lipsync render face.mp4 voice.wav

A VIDEO or VOICE is a file, an https URL, or the id of an asset (ast_…).
Environment: LIPSYNC_API_KEY, LIPSYNC_BASE_URL, LIPSYNC_PROFILE, NO_COLOR.
Exit codes: 0 done, 1 failed, 2 wrong command line, 3 no valid key, 4 the render failed or was cancelled,
5 some of its engines failed, 6 try again later, 130 interrupted.`;

function report(
  error: unknown,
  { args, running }: { args: readonly string[]; running: string | undefined },
  session: Session,
): number {
  const isJson = args.includes('--json');
  // After --help and --version, and after a wrong command line, which commander has reported itself.
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return EXIT_CODES.ok;
    if (isJson)
      printDocument(
        session.stdout,
        failureDocument(failureOf(new CommandError(error.message.replace(/^error: /, ''), 'usage'))),
      );
    return EXIT_CODES.usage;
  }
  // Whatever an interrupted command threw, it ended because of the interruption.
  const wasCutShort = session.interrupted.aborted && !(error instanceof CommandError);
  const failure = failureOf(wasCutShort ? interruption(session, 'Interrupted.') : error);
  const prefix = session.interrupted.aborted ? '' : `${styled('red', 'error:', session)} `;
  printLine(session.stderr, failure.message, prefix);
  for (const line of failure.advice?.split('\n') ?? [])
    if (line !== SEE_CONNECTION || running !== 'whoami') printLine(session.stderr, `  ${line}`);
  if (isJson && !session.hasAnswered()) printDocument(session.stdout, failureDocument(failure));
  return EXIT_CODES[failure.outcome];
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(path.join(__dirname, '..', 'package.json'), 'utf8'));
  if (typeof manifest === 'object' && manifest !== null && 'version' in manifest)
    return String(manifest.version);
  throw new Error('package.json has no version');
}
