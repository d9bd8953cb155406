import path from 'node:path';
import { print, type Row } from '@lipsync/admin';
import { type PackEngine } from '@lipsync/engines';
import { DEFAULT_PACKS_DIR, REPOSITORY_ROOT, runProgram } from '@lipsync/local-stack';
import { resolveBinaries } from '@lipsync/media';
import { type Provider, PROVIDERS } from '@lipsync/model-pack';
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { cudaRow, cudaState, installCudaProvider, PROVIDER_SOURCES, type ProviderSource } from './cuda/cuda';
import { type Destination, folderDestination, isStoreAddress, withStoreDestination } from './get/destination';
import { getPack } from './get/get-pack';
import { type Distilled, publishedRelease, SUBJECTS } from './get/published';
import { installPack, listPacks, verifyPack } from './packs';
import { tryPack } from './try-pack';

interface FolderOptions {
  packsDir: string;
  json?: boolean;
}

/** `npm run models -- …`: gets, lists, verifies, tries and installs model packs. */
const program = new Command('models').description(
  'Manages model packs in the folder --packs-dir, else MODEL_PACKS_DIR, else that of the local stack.',
);

withPacksDir(program.command('list'))
  .description('the packs in the folder, and which of them serve')
  .option('--json')
  .action(async (options: FolderOptions) => print(await listPacks(options.packsDir), options));

program
  .command('verify <dir>')
  .description('loads and probes a pack as a worker does at startup; fails if it cannot be used')
  .option('--json')
  .action(async (dir: string, options: { json?: boolean }) => {
    const { row, problem } = await verifyPack(dir);
    print(row, options);
    if (problem !== undefined) process.exitCode = 1;
  });

program
  .command('cuda')
  .description(
    "installs ONNX Runtime's CUDA provider if it is missing, and says whether graphs run on it; fails if they do not",
  )
  .addOption(
    new Option('--from <source>', 'where to get it; npm has only that of onnxruntime-node 1.29.0')
      .choices(PROVIDER_SOURCES)
      .default('nuget'),
  )
  .option('--json')
  .action(async ({ from, ...options }: { from: ProviderSource; json?: boolean }) => {
    await installCudaProvider((line) => console.error(line), { from });
    const state = await cudaState();
    print(cudaRow(state), options);
    if (state.problem !== undefined) process.exitCode = 1;
  });

interface TryOptions extends FolderOptions {
  out: string;
  video?: string;
  audio?: string;
}

withPacksDir(program.command('try <dir>'))
  .description(
    'renders a clip with a pack, which need not be in the folder; all else comes from packs of the folder',
  )
  .requiredOption('--out <file>', 'the rendered video, an MP4 file')
  .option('--video <file>', 'a talking face (default: a drawn one)')
  .option('--audio <file>', 'the voice (default: a computed one)')
  .option('--json')
  .action(async (dir: string, options: TryOptions) => {
    const { ffmpeg } = await resolveBinaries(process.env);
    const { out: outputFile, video: videoFile, audio: audioFile, packsDir } = options;
    print(await tryPack(ffmpeg, dir, { outputFile, videoFile, audioFile, packsDir }), options);
  });

withPacksDir(program.command('install <dir>'))
  .description('verifies a pack and copies it into the folder; workers see it when they restart')
  .option('--replace', 'replace another pack of the same name')
  .option('--json')
  .action(async (dir: string, options: FolderOptions & { replace?: boolean }) =>
    print(await installPack(dir, options.packsDir, { replace: options.replace === true }), options),
  );

interface GetCommandOptions extends FolderOptions {
  model?: string;
  fp16?: boolean;
  provider: Provider;
  faceParser?: boolean;
  deepCache?: number | boolean;
  distilled?: string;
  timesteps?: string;
  guidance?: string;
  licenseAccepted?: boolean;
  licenceAccepted?: boolean;
  trust: readonly string[];
  hub: string;
  to?: string;
  name?: string;
  replace?: boolean;
  cache: string;
  files?: string;
  upstream?: string;
  upstreamAddress: string;
  manifests?: string;
  device?: string;
  check: boolean;
}

withPacksDir(program.command('get'))
  .addArgument(new Argument('<engine>', 'what the weights are for').choices(SUBJECTS))
  .description(
    'makes a pack of published weights and installs it: asks about the licenses, downloads, exports, verifies, renders a clip',
  )
  .option('--model <number>', 'release of the network; default: the newest')
  .option('--fp16', 'half precision inside the graphs')
  .addOption(new Option('--provider <name>', 'where the pack will run').choices(PROVIDERS).default('cpu'))
  .option('--face-parser', 'musetalk: with the parser BiSeNet, which is for non-commercial use')
  .option(
    '--deep-cache [interval]',
    'latentsync: compute the deep features only in one of this many steps; default: 3, as upstream',
    parseInterval,
  )
  .option('--no-deep-cache', 'latentsync: every step computes the whole network')
  .option(
    '--distilled <file>',
    'latentsync: a UNet distilled to a few steps, a file or owner/repository/path[@revision] of the hub',
  )
  .option('--timesteps <list>', 'what it was distilled to, such as 951,701,401,151', parseTimesteps)
  .option('--guidance <scale>', 'the scale to run it with: 1 if guidance was distilled as well', parseScale)
  .option('--license-accepted', 'you have read and accept the licenses: does not ask')
  // Its name until 2.0.
  .addOption(new Option('--licence-accepted').hideHelp())
  .option(
    '--trust <sha256>',
    'a digest that you compared, of a file whose digest is not known here: does not ask; may be repeated',
    trusting,
    [],
  )
  .option(
    '--hub <url>',
    'where the files are: the hub or a mirror',
    process.env['HF_ENDPOINT'] || 'https://huggingface.co',
  )
  .option('--to <place>', 'folder of packs or s3://bucket/prefix; default: --packs-dir')
  .option('--name <name>', 'name of the pack; default: engine and model')
  .option('--replace', 'replace another pack of the same name')
  .option('--files <dir>', 'weights that you already have; downloads nothing')
  .option('--cache <dir>', 'keeps downloads between calls', path.join(REPOSITORY_ROOT, '.local', 'models'))
  .option('--upstream <dir>', 'checkout of the upstream repository; default: cloned')
  .option('--upstream-address <url>', 'where it is cloned from', 'https://github.com')
  .option('--manifests <dir>', 'lists of what checkpoints must hold, instead of those in scripts/export')
  .option('--device <name>', 'where torch runs during the export')
  .option('--no-check', 'neither verifies nor tries the pack: for a provider that this machine lacks')
  .option('--json')
  .action(async (engine: PackEngine, options: GetCommandOptions) => {
    const { to = options.packsDir } = options;
    const replace = { replace: options.replace === true };
    const get = (destination: Destination): Promise<Row> => getTo(destination, engine, options);
    print(
      await (isStoreAddress(to)
        ? withStoreDestination(to, replace, get)
        : get(folderDestination(to, replace))),
      options,
    );
  });

async function getTo(destination: Destination, engine: PackEngine, options: GetCommandOptions): Promise<Row> {
  const { HF_TOKEN, LIPSYNC_PYTHON } = process.env;
  const passedOn = (['manifests', 'device'] as const).flatMap((option) =>
    options[option] === undefined ? [] : [`--${option}`, options[option]],
  );
  return getPack({
    release: await publishedRelease(engine, {
      model: options.model,
      faceParser: options.faceParser === true,
      deepCache: options.deepCache,
      distilled: distilledIn(options),
    }),
    hub: { address: options.hub.replace(/\/+$/, ''), token: HF_TOKEN || undefined },
    exporter: {
      python: LIPSYNC_PYTHON || 'python3',
      // Beside this workspace, in the repository and in the image.
      programs: path.resolve(__dirname, '..', '..', 'export'),
    },
    destination,
    cache: options.cache,
    files: options.files,
    upstream: { given: options.upstream, address: options.upstreamAddress },
    consent: {
      terminal: { input: process.stdin, output: process.stderr },
      licensesAccepted: options.licenseAccepted === true || options.licenceAccepted === true,
      trusted: options.trust,
    },
    pack: {
      name: options.name,
      half: options.fp16 === true,
      provider: options.provider,
      further: passedOn,
    },
    packsDir: options.packsDir,
    checks: options.check ? { ffmpeg: (await resolveBinaries(process.env)).ffmpeg } : null,
    tell: (line) => console.error(line),
  });
}

function distilledIn({ distilled, timesteps, guidance }: GetCommandOptions): Distilled | undefined {
  if (distilled !== undefined && timesteps !== undefined && guidance !== undefined)
    return { from: distilled, timesteps, guidance };
  if (distilled === undefined && timesteps === undefined && guidance === undefined) return undefined;
  throw new Error('--distilled, --timesteps and --guidance go together, as its page states them');
}

function parseInterval(text: string): number {
  const interval = Number(text);
  if (!Number.isInteger(interval) || interval < 2)
    throw new InvalidArgumentError('Expected a whole number of at least 2.');
  return interval;
}

function parseTimesteps(text: string): string {
  const times = text.split(',').map(Number);
  if (!/^\d+(,\d+)*$/.test(text) || times.some((time, i) => i > 0 && time >= (times[i - 1] ?? 0)))
    throw new InvalidArgumentError('Expected decreasing whole numbers, separated by commas.');
  return text;
}

function parseScale(text: string): string {
  if (!(Number(text) >= 1)) throw new InvalidArgumentError('Expected a number of at least 1.');
  return text;
}

function trusting(text: string, all: readonly string[]): readonly string[] {
  if (!/^[0-9a-f]{64}$/i.test(text))
    throw new InvalidArgumentError('Expected a SHA-256 of 64 hexadecimal digits.');
  return [...all, text.toLowerCase()];
}

function withPacksDir(command: Command): Command {
  return command.option('--packs-dir <dir>', 'folder of model packs', DEFAULT_PACKS_DIR);
}

runProgram(program);
