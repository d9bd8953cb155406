import { writeFileSync } from 'node:fs';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readCards } from '@lipsync/gpu-worker';
import { DEFAULT_PACKS_DIR, machine, runProgram } from '@lipsync/local-stack';
import { resolveBinaries, resolveVideoCodecs } from '@lipsync/media';
import { type Provider } from '@lipsync/model-pack';
import { checkedPack, cudaState, isolatePack, makeClip, makeSpeech } from '@lipsync/models';
import { Command } from 'commander';
import { type Checklist, createChecklist, Skipped, type StepTools } from './checklist';
import { type EngineFigures, measureAnalysis, measureEngine } from './measure-engine';
import { measureGraphs } from './measure-graphs';
import { CLIP_SHAPE, packsIn, type PackToBench, parseSeconds } from './pack-bench';
import { measureTorch } from './torch-networks';

interface Options {
  readonly dryRun?: boolean;
  readonly packs?: string;
  readonly seconds?: number;
  readonly stepSeconds: number;
  readonly python?: string;
  readonly upstream?: string;
  readonly out?: string;
}

/** The length of the clip: a minute on a card, so that what a render costs beside its frames does not hide what these cost. */
const SECONDS = { card: 60, dryRun: 6 };
const FPS = 25;
/** The length of the first render, in which the device chooses its kernels. */
const FIRST_SECONDS = 2;
/** Share of a step's time that a render may be expected to take: the expectation comes from a shorter one. */
const USABLE = 0.85;

/** `npm run gpu-check`: everything that can only be seen on a machine with a card, in one run. */
runProgram(
  new Command('gpu-check')
    .description('Card, CUDA, video codecs, and every pack: verified, its graphs timed, and rendered with.')
    .option('--dry-run', 'the same on the processor, without what needs a card')
    .option('--packs <dir>', 'engine packs; default: the built-in ones')
    .option(
      '--seconds <n>',
      `length of the clip; default: ${SECONDS.card}, in a dry run ${SECONDS.dryRun}`,
      parseSeconds,
    )
    .option(
      '--step-seconds <n>',
      'limit of one step; a render that does not fit is shorter',
      parseSeconds,
      120,
    )
    .option('--python <program>', 'a Python with torch: also times the same networks in PyTorch')
    .option('--upstream <dir>', 'with checkouts of LatentSync and high_sync, for their networks')
    .option('--out <file>', 'also write the result to a file, after every step')
    .action(async (options: Options) => {
      const { dryRun = false, out, stepSeconds } = options;
      const report = (): string => {
        const ok = checklist.steps.every(({ outcome }) => outcome !== 'failed');
        return JSON.stringify({ ok, dry_run: dryRun, machine: machine(), steps: checklist.steps }, null, 2);
      };
      // A machine with a card may be taken away at any time: whatever is known by then must not be lost.
      const checklist: Checklist = createChecklist((result) => {
        console.error(JSON.stringify(result));
        if (out !== undefined) writeFileSync(out, `${report()}\n`);
      }, stepSeconds);
      await checkAll(checklist, options);
      console.log(report());
      // Not `exitCode`: a killed process that the card does not let go of would keep this one.
      process.exit(checklist.steps.some(({ outcome }) => outcome === 'failed') ? 1 : 0);
    }),
);

/** What all packs render, and the face track of it once there is one. */
interface Subject extends Pick<PackToBench, 'clip' | 'folder'> {
  readonly ffmpeg: string;
  readonly trackPath: string;
}

async function checkAll({ step }: Checklist, options: Options): Promise<void> {
  const { dryRun = false, packs = DEFAULT_PACKS_DIR } = options;
  const { wanted, bad } = await packsIn(path.resolve(packs), {});
  const needCard = (): void => {
    if (dryRun) throw new Skipped('a dry run uses no card');
  };
  await step('card', async () => {
    needCard();
    return { cards: await readCards() };
  });
  const cuda = await step('CUDA', async () => {
    needCard();
    const { problem, ...found } = await cudaState();
    if (problem !== undefined) throw new Error(`${problem} (npm run models -- cuda says more)`);
    return found;
  });
  await step('video codecs', useVideoCodecs);
  for (const { dir, problem } of bad)
    await step(`pack ${path.basename(dir)}`, () => Promise.reject(new Error(problem)));

  // The probes of the built-in packs are narrower than TF32, which cards since Ampere use for float32.
  if (options.packs === undefined) process.env['NVIDIA_TF32_OVERRIDE'] ??= '0';
  const provider = dryRun ? 'cpu' : cuda && 'cuda';
  const folder = await mkdtemp(path.join(tmpdir(), 'gpu-check-'));
  try {
    const { ffmpeg } = await resolveBinaries(toolEnvironment());
    const { seconds = dryRun ? SECONDS.dryRun : SECONDS.card } = options;
    const clip = await makeClip(ffmpeg, folder, { ...CLIP_SHAPE, fps: FPS, seconds });
    const subject = { clip, folder, ffmpeg, trackPath: path.join(folder, 'track.bin') };
    const analyzed = await step('analysis', async ({ signal }) => {
      const analyzerOnly = await mkdtemp(path.join(folder, 'packs-'));
      await symlink(path.resolve(wanted[0]?.analyzerDir ?? ''), path.join(analyzerOnly, 'analyzer'));
      return measureAnalysis(analyzerOnly, clip, subject.trackPath, signal);
    });
    for (const pack of wanted)
      await checkPack(
        { step },
        { ...pack, ...subject },
        { ...options, provider, canRender: analyzed !== undefined },
      );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface PackOptions extends Pick<Options, 'python' | 'upstream' | 'dryRun'> {
  readonly provider: Provider | undefined;
  readonly canRender: boolean;
}

/** On this provider alone, whatever the pack's manifest lists. */
async function checkPack(
  { step }: Pick<Checklist, 'step'>,
  checked: Omit<PackToBench, 'clip'> & Subject,
  { provider, canRender, python, upstream, dryRun = false }: PackOptions,
): Promise<void> {
  const { pack, analyzerDir, folder } = checked;
  const { name } = pack.manifest;
  const own = await mkdtemp(path.join(folder, 'packs-'));
  const dir =
    provider &&
    (await isolatePack(own, {
      pack,
      manifest: { ...pack.manifest, providers: [provider] },
      beside: analyzerDir,
    }));
  const verified = await step(`verify ${name}`, async ({ signal }) => {
    if (dir === undefined) throw new Skipped('CUDA cannot be used');
    const { probes } = await checkedPack(dir, { signal });
    return { provider, probes };
  });
  await step(`graphs ${name}`, (tools) => {
    if (dir === undefined || verified === undefined) throw new Skipped('it is not verified');
    return measureGraphs(dir, tools);
  });
  const rendered = await step(`render ${name}`, (tools) => {
    if (verified === undefined) throw new Skipped('it is not verified');
    if (!canRender) throw new Skipped('the clip has no face track');
    return renderTwice(own, checked, tools);
  });
  const compared = { python, upstream, dryRun, manifest: pack.manifest, packFps: rendered?.inference_fps };
  await step(`PyTorch ${name}`, (tools) => measureTorch(compared, tools));
}

/** A short render, and one of the whole clip, or of as much as fits into the step. */
async function renderTwice(
  packsDir: string,
  { pack, clip, ffmpeg, folder, trackPath }: Omit<PackToBench, 'clip'> & Subject,
  { signal, found, secondsLeft }: StepTools,
): Promise<EngineFigures> {
  const firstSeconds = Math.min(FIRST_SECONDS, clip.seconds);
  const secondAudio = async (framesPerSecond: number): Promise<string> => {
    const fitting = Math.floor((secondsLeft() * USABLE * framesPerSecond) / FPS);
    if (fitting >= clip.seconds) return clip.audioFile;
    return makeSpeech(ffmpeg, folder, Math.max(firstSeconds, fitting));
  };
  return measureEngine({
    packsDir,
    manifest: pack.manifest,
    clip,
    trackPath,
    firstAudio: await makeSpeech(ffmpeg, folder, firstSeconds),
    secondAudio,
    found,
    signal,
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
