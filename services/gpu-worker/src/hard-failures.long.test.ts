import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { type Engine } from '@lipsync/contract';
import { MAX_ATTEMPTS } from '@lipsync/domain';
import { encodeFaceTrack, openPack } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { type PackRole, type TensorSpec } from '@lipsync/model-pack';
import { makeNumberedVideo, makeTone } from '@lipsync/testkit';
import { findPacks } from './host/find-packs';
import { createInferenceHost, type InferenceHost } from './host/inference-host';
import { type TaskPack } from './protocol/messages';
import { emptyGraph, hungryGraph, writeAlteredPack } from './test/altered-pack';
import { COMPILED_CHILD, packAt } from './test/real-child';
import { createRenderFixture, recordedMedia, type RenderFixture } from './test/render-fixture';
import { createTestWorkers } from './test/test-workers';

/** Observing this needs facilities that only Linux has. */
const onLinux = process.platform === 'linux' ? test : test.skip;

const SIZE = { width: 192, height: 192 };
const FRAMES = 10;

const inText = (part: string): string => expect.stringContaining(part) as string;

let folder: string;
let host: InferenceHost;
let tasks = 0;
const at = (name: string): string => join(folder, name);
const builtin = (engine: Engine): string => at(`packs/builtin-${engine}`);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hard-failures-'));
  await buildBuiltinPacks(at('packs'));
  host = createInferenceHost({ entry: COMPILED_CHILD });
  await makeNumberedVideo(at('video.mp4'), { frames: FRAMES, ...SIZE });
  await makeTone(at('voice.wav'), { seconds: FRAMES / 25 });
  const box = { x1: 40, y1: 50, x2: 150, y2: 180 };
  await writeFile(at('face.track'), encodeFaceTrack(syntheticTrack({ frames: FRAMES, ...SIZE, box })));
}, 60_000);
afterAll(async () => {
  host.kill();
  await rm(folder, { recursive: true, force: true });
});

async function render(engine: Engine, packDir = builtin(engine), child = host) {
  return renderWith(engine, await packAt(packDir), child);
}

async function renderWith(engine: Engine, pack: TaskPack, child = host) {
  return child.render({
    jobId: `task ${tasks++}`,
    engine,
    pack,
    analyzer: await packAt(at('packs/analyzer')),
    syncMode: 'loop',
    videoPath: at('video.mp4'),
    audioPath: at('voice.wav'),
    faceTrackPath: at('face.track'),
    outputPath: at('out.mp4'),
  });
}

/** Makes a new folder with an engine's built-in pack, one graph replaced. */
async function alteredPack(
  engine: Engine,
  role: string,
  graphOf: (role: PackRole) => Uint8Array,
): Promise<string> {
  const dir = at(`altered-${tasks++}`);
  await writeAlteredPack(dir, await openPack(builtin(engine)), role, graphOf);
  return dir;
}

describe('a pack that does not fit is refused at start, fails a render with a clear error, and affects no other pack', () => {
  const half = (spec: TensorSpec): TensorSpec => ({
    ...spec,
    dims: spec.dims.map((dim, axis) => (axis === spec.dims.length - 1 ? Number(dim) / 2 : dim)),
  });
  const calledX = (spec: TensorSpec): TensorSpec => ({ ...spec, name: 'x' });
  const withInput = (change: (spec: TensorSpec) => TensorSpec) => (role: PackRole) =>
    emptyGraph({ ...role, inputs: { ...role.inputs, latent: change(tensor(role.inputs['latent'])) } });
  const withOutput = (change: (spec: TensorSpec) => TensorSpec) => (role: PackRole) =>
    emptyGraph({ ...role, outputs: { prediction: change(tensor(role.outputs['prediction'])) } });

  const GRAPHS: [string, (role: PackRole) => Uint8Array, string][] = [
    ['calls an input otherwise', withInput(calledX), "input 'x'"],
    ['calls its output otherwise', withOutput(calledX), "no output 'prediction'"],
    ['takes another shape', withInput(half), "input 'latent' is ["],
    ['gives another shape', withOutput(half), "output 'prediction' is ["],
    ['is none', () => Buffer.from('not a graph'), 'Protobuf parsing failed'],
  ];
  const NETWORKS: [Engine, string][] = [
    ['latentsync', 'unet3d'],
    ['highsync', 'denoising_unet'],
  ];

  test.each(NETWORKS.flatMap(([engine, role]) => GRAPHS.map((row) => [engine, role, ...row] as const)))(
    '%s, whose %s %s',
    async (engine, role, _what, graphOf, problem) => {
      const dir = await alteredPack(engine, role, graphOf);
      const { packs } = await host.verify({ jobId: `verify ${tasks++}`, packDirs: [dir, builtin(engine)] });
      expect(packs).toMatchObject([{ packDir: dir, problem: inText(problem) }, { provider: 'cpu' }]);
      await expect(render(engine, dir)).rejects.toMatchObject({
        code: 'engine_failed',
        detail: inText(problem),
      });
    },
    60_000,
  );

  test.each(NETWORKS)('%s, whose %s computes something else', async (engine, role) => {
    const dir = await alteredPack(engine, role, emptyGraph);
    const { packs } = await host.verify({ jobId: `verify ${tasks++}`, packDirs: [dir] });
    expect(packs).toMatchObject([{ problem: inText(`${role}: the mean of 'prediction' is`) }]);
  });

  test('damaged after it was verified', async () => {
    const dir = at('damaged');
    await cp(builtin('musetalk'), dir, { recursive: true });
    const { packs } = await host.verify({ jobId: `verify ${tasks++}`, packDirs: [dir] });
    expect(packs).toMatchObject([{ provider: 'cpu' }]);
    await appendFile(join(dir, 'whisper-encoder.onnx'), '!');
    await expect(render('musetalk', dir)).rejects.toMatchObject({
      code: 'pack_lost',
      detail: inText('SHA-256'),
    });
    await expect(render('musetalk')).resolves.toMatchObject({ renderedFrames: FRAMES });
  }, 60_000);

  test('removed after it was warmed up: nothing misses it', async () => {
    const dir = at('warmed');
    await cp(builtin('musetalk'), dir, { recursive: true });
    const child = createInferenceHost({ entry: COMPILED_CHILD });
    const [pack, analyzer] = [await packAt(dir), await packAt(at('packs/analyzer'))];
    await child.warm({ jobId: `task ${tasks++}`, analyzer, engines: [{ engine: 'musetalk', pack }] });
    await rm(dir, { recursive: true });
    await expect(renderWith('musetalk', pack, child)).resolves.toMatchObject({ renderedFrames: FRAMES });
    child.kill();
  }, 60_000);
});

function tensor(spec: TensorSpec | undefined): TensorSpec {
  if (!spec) throw new Error('the role has no such tensor');
  return spec;
}

describe('out of memory', () => {
  test.each<[Engine, string]>([
    ['musetalk', 'unet'],
    ['latentsync', 'unet3d'],
    ['highsync', 'reference_unet'],
    ['highsync', 'denoising_unet'],
  ])(
    'in the %s pack, role %s, fails the render with engine_out_of_memory, and its child serves the next one',
    async (engine, role) => {
      const pid = host.pid();
      const dir = await alteredPack(engine, role, hungryGraph);
      await expect(render(engine, dir)).rejects.toMatchObject({ code: 'engine_out_of_memory' });
      await expect(render(engine)).resolves.toMatchObject({ renderedFrames: FRAMES });
      expect(host.pid()).toBe(pid);
    },
    60_000,
  );

  onLinux(
    'of a whole process fails the render with engine_out_of_memory, and the process goes on',
    async () => {
      // Room for the graphs. One pixel kernel reserves gigabytes of address space, next to nothing of which is used.
      const room = 512 * 2 ** 20;
      const entry = at('limited.js');
      await writeFile(
        entry,
        `const { execFileSync } = require('node:child_process');
       const { readFileSync } = require('node:fs');
       const send = process.send.bind(process);
       process.send = (message, ...rest) => {
         if (message.stage === 'loading_model') {
           const [, kilobytes] = readFileSync('/proc/self/status', 'utf8').match(/VmSize:\\s*(\\d+)/);
           const limit = String(kilobytes * 1024 + ${room});
           execFileSync('prlimit', ['--pid', String(process.pid), '--as=' + limit + ':']);
         }
         return send(message, ...rest);
       };
       require(${JSON.stringify(COMPILED_CHILD)});`,
      );
      const child = createInferenceHost({ entry });
      const pids = new Set<number | undefined>();
      for (let i = 0; i < 2; i++) {
        const rendering = render('musetalk', builtin('musetalk'), child);
        await expect(rendering).rejects.toMatchObject({ code: 'engine_out_of_memory' });
        pids.add(child.pid());
      }
      expect(pids.size).toBe(1);
      child.kill();
    },
    60_000,
  );
});

describe('a render whose every attempt fails ends after the last one with its failure code', () => {
  let fixture: RenderFixture;
  beforeAll(async () => {
    fixture = await createRenderFixture(await recordedMedia(folder));
  }, 60_000);
  afterAll(() => fixture.close());

  /** Lets workers with this child try until they stop trying; returns how the render ended. */
  async function tryOut(child: InferenceHost, packsDir: string): Promise<Record<string, unknown>> {
    const packs = await findPacks(packsDir);
    const workers = createTestWorkers({ fixture, packs, host: child, folder });
    const job = await fixture.render({ audio: 'short', prepared: true });
    for (let i = 1; i <= MAX_ATTEMPTS + 1; i++) {
      await workers.perform(job);
      expect((await fixture.job(job.jobId)).attempts).toBe(Math.min(i, MAX_ATTEMPTS));
      await fixture.retryNow(job.jobId);
    }
    child.kill();
    const [row] = await fixture.factories.query<Record<string, unknown>>(
      `SELECT renders.status, renders.error_code, jobs.status AS job
       FROM renders JOIN jobs ON jobs.id = $2 WHERE renders.id = $1`,
      [job.renderId, job.jobId],
    );
    return row ?? {};
  }

  test('when its child is killed each time, as by the kernel when it is out of memory', async () => {
    const entry = at('mortal.js');
    await writeFile(
      entry,
      `require('node:fs').appendFileSync(${JSON.stringify(at('started'))}, '.');
       const send = process.send.bind(process);
       process.send = (message, ...rest) => {
         if (message.stage === 'inferencing') process.kill(process.pid, 'SIGKILL');
         return send(message, ...rest);
       };
       require(${JSON.stringify(COMPILED_CHILD)});`,
    );
    const ended = await tryOut(createInferenceHost({ entry }), at('packs'));
    expect(ended).toEqual({ status: 'failed', error_code: 'worker_lost', job: 'finished' });
    expect(await readFile(at('started'), 'utf8')).toBe('.'.repeat(MAX_ATTEMPTS));
  }, 60_000);

  test('when its child hangs each time, without a word', async () => {
    const entry = at('hanging.js');
    await writeFile(
      entry,
      `require('node:fs').appendFileSync(${JSON.stringify(at('hung'))}, '.');
       const send = process.send.bind(process);
       process.send = (message, ...rest) => {
         if (message.stage === 'inferencing') process.kill(process.pid, 'SIGSTOP');
         return send(message, ...rest);
       };
       require(${JSON.stringify(COMPILED_CHILD)});`,
    );
    const losses: string[] = [];
    const onLost = (reason: string): void => void losses.push(reason);
    const ended = await tryOut(createInferenceHost({ entry, silenceMs: 2_000, onLost }), at('packs'));
    expect(ended).toEqual({ status: 'failed', error_code: 'engine_failed', job: 'finished' });
    expect(losses).toEqual(Array(MAX_ATTEMPTS).fill('silent'));
    expect(await readFile(at('hung'), 'utf8')).toBe('.'.repeat(MAX_ATTEMPTS));
  }, 60_000);

  test('when its engine runs out of memory each time', async () => {
    await cp(at('packs/analyzer'), at('hungry/analyzer'), { recursive: true });
    const musetalk = await openPack(builtin('musetalk'));
    await writeAlteredPack(at('hungry/musetalk'), musetalk, 'unet', hungryGraph);
    const ended = await tryOut(createInferenceHost({ entry: COMPILED_CHILD }), at('hungry'));
    expect(ended).toEqual({ status: 'failed', error_code: 'engine_out_of_memory', job: 'finished' });
  }, 60_000);
});
