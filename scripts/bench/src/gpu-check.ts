import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DEFAULT_PACKS_DIR, machine, runProgram } from '@lipsync/local-stack';
import { resolveBinaries, resolveVideoCodecs } from '@lipsync/media';
import { type Provider } from '@lipsync/model-pack';
import { checkedPack, cudaState, isolatePack, makeClip } from '@lipsync/models';
import { Command } from 'commander';
import { type Checklist, createChecklist, Skipped } from './checklist';
import { readCards } from './graphics-card';
import { measureEngine } from './measure-engine';
import { CLIP_SHAPE, packsIn, type PackToBench, parseSeconds } from './pack-bench';

interface Options {
  readonly dryRun?: boolean;
  readonly packs?: string;
  readonly seconds: number;
  readonly out?: string;
}

/** `npm run gpu-check`: everything that can only be seen on a machine with a card, in one run. */
runProgram(
  new Command('gpu-check')
    .description('Card, CUDA, video codecs, and every pack: verified, rendered and measured on the card.')
    .option('--dry-run', 'the same on the processor, without what needs a card')
    .option('--packs <dir>', 'engine packs; default: the built-in ones')
    .option('--seconds <n>', 'length of the clip', parseSeconds, 6)
    .option('--out <file>', 'also write the result to a file')
    .action(async (options: Options) => {
      const checklist = createChecklist((line) => console.error(line));
      await checkAll(checklist, options);
      const { steps } = checklist;
      const ok = steps.every(({ outcome }) => outcome !== 'failed');
      const { dryRun = false } = options;
      const report = JSON.stringify({ ok, dry_run: dryRun, machine: machine(), steps }, null, 2);
      console.log(report);
      if (options.out !== undefined) await writeFile(options.out, `${report}\n`);
      if (!ok) process.exitCode = 1;
    }),
);

async function checkAll(checklist: Checklist, options: Options): Promise<void> {
  const { dryRun = false, packs = DEFAULT_PACKS_DIR, seconds } = options;
  const { wanted, bad } = await packsIn(path.resolve(packs), {});
  const needCard = (): void => {
    if (dryRun) throw new Skipped('a dry run uses no card');
  };
  await checklist.step('card', async () => {
    needCard();
    return { cards: await readCards() };
  });
  const cuda = await checklist.step('CUDA', async () => {
    needCard();
    const { problem, ...found } = await cudaState();
    if (problem !== undefined) throw new Error(`${problem} (npm run models -- cuda says more)`);
    return found;
  });
  await checklist.step('video codecs', useVideoCodecs);
  for (const { dir, problem } of bad)
    await checklist.step(`pack ${path.basename(dir)}`, () => Promise.reject(new Error(problem)));

  // The probes of the built-in packs are narrower than TF32, which cards since Ampere use for float32.
  if (options.packs === undefined) process.env['NVIDIA_TF32_OVERRIDE'] ??= '0';
  const provider = dryRun ? 'cpu' : cuda && 'cuda';
  const folder = await mkdtemp(path.join(tmpdir(), 'gpu-check-'));
  try {
    const { ffmpeg } = await resolveBinaries(toolEnvironment());
    const clip = await makeClip(ffmpeg, folder, { ...CLIP_SHAPE, fps: 25, seconds });
    for (const pack of wanted) await checkPack(checklist, { ...pack, clip, folder }, provider);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Verifies the pack on this provider alone, whatever its manifest lists, and renders with it. */
async function checkPack(
  checklist: Checklist,
  { pack, analyzerDir, clip, folder }: PackToBench,
  provider: Provider | undefined,
): Promise<void> {
  const { name } = pack.manifest;
  const own = await mkdtemp(path.join(folder, 'packs-'));
  const verified = await checklist.step(`verify ${name}`, async () => {
    if (provider === undefined) throw new Skipped('CUDA cannot be used');
    const manifest = { ...pack.manifest, providers: [provider] };
    const { probes } = await checkedPack(await isolatePack(own, { pack, manifest, beside: analyzerDir }));
    return { provider, probes };
  });
  await checklist.step(`render ${name}`, () => {
    if (verified === undefined) throw new Skipped('it is not verified');
    return measureEngine(own, pack.manifest, clip);
  });
}

/** As a worker chooses them when its settings say `auto`. The renders use what was chosen. */
async function useVideoCodecs(): Promise<object> {
  const wanted = { encoder: 'auto', decoder: 'auto', output: 'source' } as const;
  const binaries = await resolveBinaries(toolEnvironment());
  const { codecs, output, passedOver } = await resolveVideoCodecs(binaries, wanted);
  const { encoder, deepEncoder, decoder } = codecs;
  process.env['VIDEO_ENCODER'] = encoder;
  process.env['VIDEO_DEEP_ENCODER'] = deepEncoder;
  process.env['VIDEO_DECODER'] = decoder;
  process.env['VIDEO_OUTPUT'] = output;
  return { encoder, deep_encoder: deepEncoder, decoder, output, passed_over: passedOver };
}

/** Where the image says `auto`, which no process can obey before it is resolved. */
const toolEnvironment = () => ({ ...process.env, VIDEO_ENCODER: undefined, VIDEO_DECODER: undefined });
