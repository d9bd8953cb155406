import { print } from '@lipsync/admin';
import { PACKS_DIR, runProgram } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { Command } from 'commander';
import { installPack, listPacks, verifyPack } from './packs';
import { tryPack } from './try-pack';

interface FolderOptions {
  packsDir: string;
  json?: boolean;
}

/** `npm run models -- …`: lists, verifies and installs model packs. */
const program = new Command('models').description(
  'Model packs. Works on the folder in --packs-dir, else in MODEL_PACKS_DIR, else on that of the local stack.',
);

withPacksDir(program.command('list'))
  .description('the packs in the folder, and which of them serve')
  .option('--json')
  .action(async (options: FolderOptions) => print(await listPacks(options.packsDir), options));

program
  .command('verify <dir>')
  .description('loads and probes a pack as a worker does at its start; fails when it cannot be used')
  .option('--json')
  .action(async (dir: string, options: { json?: boolean }) => {
    const { row, problem } = await verifyPack(dir);
    print(row, options);
    if (problem !== undefined) process.exitCode = 1;
  });

interface TryOptions extends FolderOptions {
  out: string;
  video?: string;
  audio?: string;
}

withPacksDir(program.command('try <dir>'))
  .description(
    'renders a clip with a pack, which need not be in the folder, and the face analyser of the folder',
  )
  .requiredOption('--out <file>', 'the rendered video, an MP4 file')
  .option('--video <file>', 'a talking face; else a drawn one')
  .option('--audio <file>', 'the voice; else a computed one')
  .option('--json')
  .action(async (dir: string, options: TryOptions) => {
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    const { ffmpeg } = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
    const { out: outputFile, video: videoFile, audio: audioFile, packsDir } = options;
    print(await tryPack(ffmpeg, dir, { outputFile, videoFile, audioFile, packsDir }), options);
  });

withPacksDir(program.command('install <dir>'))
  .description('verifies a pack and copies it into the folder; workers see it when they start again')
  .option('--replace', 'also over another pack of the same name')
  .option('--json')
  .action(async (dir: string, options: FolderOptions & { replace?: boolean }) =>
    print(await installPack(dir, options.packsDir, { replace: options.replace === true }), options),
  );

function withPacksDir(command: Command): Command {
  return command.option(
    '--packs-dir <dir>',
    'folder of model packs',
    process.env['MODEL_PACKS_DIR'] || PACKS_DIR,
  );
}

runProgram(program);
