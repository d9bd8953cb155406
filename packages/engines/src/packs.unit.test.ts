import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScheduleParams } from './diffusion/ddim';
import { type HighsyncManifest } from './highsync/manifest';
import { type LatentsyncManifest } from './latentsync/manifest';
import { type MusetalkManifest } from './musetalk/manifest';
import { manifestSchema, openPackFor } from './packs';
import { LATENT, writeHighsyncPack } from './test/highsync-pack';
import { writeLatentsyncPack } from './test/latentsync-pack';
import { writePassthroughPack } from './test/passthrough-pack';

let folder: string;
let musetalk: MusetalkManifest;
let latentsync: LatentsyncManifest;
let highsync: HighsyncManifest;
type Rendering = MusetalkManifest | LatentsyncManifest | HighsyncManifest;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'manifest-fits-'));
  const at = (name: string): string => join(folder, name);
  await writePassthroughPack(at('musetalk'));
  await writeLatentsyncPack(at('latentsync'));
  await writeHighsyncPack(at('highsync'));
  musetalk = (await openPackFor('musetalk', at('musetalk'))).manifest;
  latentsync = (await openPackFor('latentsync', at('latentsync'))).manifest;
  highsync = (await openPackFor('highsync', at('highsync'))).manifest;
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const CELL = { top: 0, bottom: 0, left: 0, right: 0 };
const ALL = { top: 0, bottom: LATENT.height - 1, left: 0, right: LATENT.width - 1 };

const latentDims = (): number[] => {
  const { channels, height, width } = highsync.params.latent;
  return [channels, height, width];
};

/** The problems of a manifest, as `path: message`. */
const problems = (manifest: unknown): string[] =>
  manifestSchema
    .safeParse(manifest)
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];

describe('parameters that contradict the tensors beside them are refused, naming the tensor', () => {
  const ofMusetalk = (changes: Partial<MusetalkManifest['params']>) =>
    problems({ ...musetalk, params: { ...musetalk.params, ...changes } });
  const ofLatentsync = (changes: Partial<LatentsyncManifest['params']>) =>
    problems({ ...latentsync, params: { ...latentsync.params, ...changes } });
  const ofHighsync = (changes: Partial<HighsyncManifest['params']>) =>
    problems({ ...highsync, params: { ...highsync.params, ...changes } });

  test('the parameters of whole packs are accepted', () => {
    expect([musetalk, latentsync, highsync].map(problems)).toEqual([[], [], []]);
  });

  test('the rates of frames, of which the fewest come first', () => {
    expect([ofLatentsync({ rates: [24, 30] }), ofHighsync({ rates: [25, 25] })]).toEqual([[], []]);
    const refused = ['params.rates: the fewest frames come first'];
    expect([ofLatentsync({ rates: [30, 24] }), ofHighsync({ rates: [30, 24] })]).toEqual([refused, refused]);
  });

  test('the side of the crop', () => {
    const image = (role: string, side: string, { roles }: Rendering) =>
      `roles.${role}.${side}.image: is float32 [${roles.vae_encoder.inputs.image.dims.join(',')}]`;
    const wanted = (frames: number) => `the parameters ask for float32 [${frames},3,128,128]`;
    expect(ofMusetalk({ resolution: 128 })).toEqual([
      `${image('vae_encoder', 'inputs', musetalk)}, ${wanted(8)}`,
      `${image('vae_decoder', 'outputs', musetalk)}, ${wanted(8)}`,
    ]);
    for (const [pack, found] of [
      [latentsync, ofLatentsync({ resolution: 128 })],
      [highsync, ofHighsync({ resolution: 128 })],
    ] as const)
      expect(found).toContain(`${image('vae_encoder', 'inputs', pack)}, ${wanted(1)}`);
  });

  test('a crop that cannot be cut: its side is not a multiple of eight', () => {
    const refusal = expect.stringMatching(/^params\.resolution: .*multiple of 8/) as string;
    expect(ofMusetalk({ resolution: 252 })).toContainEqual(refusal);
    expect(ofHighsync({ resolution: 252 })).toContainEqual(refusal);
  });

  test.each([{ states: 2 }, { width: 7 }])('the states of the audio encoder, %j', (change) => {
    const audio = { ...latentsync.params.audio, ...change };
    const named = [
      expect.stringContaining('roles.whisper_encoder.outputs.states') as string,
      expect.stringContaining('roles.unet3d.inputs.audio') as string,
    ];
    expect(ofLatentsync({ audio })).toEqual(named);
    expect(ofMusetalk({ audio: { ...musetalk.params.audio, ...change } })).toHaveLength(2);
    expect(ofHighsync({ audio: { ...highsync.params.audio, ...change } })).toHaveLength(3);
  });

  test.each([{ channels: 5 }, { height: 16 }, { width: 64 }])('the latent, %j', (change) => {
    for (const found of [
      ofMusetalk({ latent: { ...musetalk.params.latent, ...change } }),
      ofLatentsync({ latent: { ...latentsync.params.latent, ...change } }),
      ofHighsync({ latent: { ...highsync.params.latent, ...change }, mask: CELL }),
    ])
      expect(found.length).toBeGreaterThan(2);
  });

  test('the window of a network that sees a fixed number of frames', () => {
    expect(ofHighsync({ window: 8 })).toEqual([
      expect.stringContaining('roles.denoising_unet.inputs.latent: ') as string,
      expect.stringContaining('roles.denoising_unet.inputs.audio: ') as string,
      expect.stringContaining('roles.denoising_unet.inputs.landmarks: ') as string,
      expect.stringContaining('roles.denoising_unet.inputs.bank_0: ') as string,
      expect.stringContaining('roles.denoising_unet.inputs.bank_1: ') as string,
      expect.stringContaining('roles.denoising_unet.outputs.prediction: ') as string,
      expect.stringContaining('roles.denoising_unet_unconditional.inputs.latent: ') as string,
      expect.stringContaining('roles.denoising_unet_unconditional.inputs.audio: ') as string,
      expect.stringContaining('roles.denoising_unet_unconditional.outputs.prediction: ') as string,
    ]);
  });

  test.each<[string, Partial<HighsyncManifest['params']>, string]>([
    ['windows that do not advance', { overlap: 12 }, 'windows overlap by less than a window'],
    ['a stretch that is shorter than a window', { stretch: 11 }, 'a stretch holds at least a window'],
    [
      'rows beyond the latent',
      { mask: { ...ALL, bottom: LATENT.height } },
      'the rectangle lies inside the latent',
    ],
    [
      'columns beyond the latent',
      { mask: { ...ALL, right: LATENT.width } },
      'the rectangle lies inside the latent',
    ],
    ['rows in reverse', { mask: { ...ALL, top: 4, bottom: 3 } }, 'the rectangle lies inside the latent'],
    ['columns in reverse', { mask: { ...ALL, left: 5, right: 4 } }, 'the rectangle lies inside the latent'],
  ])('%s', (_, change, problem) => {
    expect(ofHighsync(change)).toEqual([`params: ${problem}`]);
  });

  test('a denoising network with other banks than the reference network gives, or with another input', () => {
    const { denoising_unet: role } = highsync.roles;
    const { bank_0, ...inputs } = role.inputs;
    const renamed = { ...role, inputs: { ...inputs, bank_2: bank_0 ?? inputs.latent } };
    const unshared = { ...highsync.roles, denoising_unet: renamed };
    const unknown = structuredClone(highsync.roles);
    unknown.denoising_unet.inputs['class_label'] = { name: 'class_label', dtype: 'int64', dims: [1] };
    for (const roles of [unshared, unknown])
      expect(problems({ ...highsync, roles })).toContain(
        ': the denoising network takes the banks that the reference network gives',
      );
  });

  test('a denoising network that takes both banks and latents of the reference, or neither', () => {
    const { reference_unet, denoising_unet, ...others } = highsync.roles;
    const { bank_0, bank_1, ...inputs } = denoising_unet.inputs;
    const latents = { name: 'reference', dtype: 'float32' as const, dims: [12, ...latentDims()] };
    const taking = (more: object) => ({ ...denoising_unet, inputs: { ...inputs, ...more } });
    const of = (roles: object): string[] => problems({ ...highsync, roles: { ...others, ...roles } });
    const PROBLEM = ': the denoising network takes either banks or the latents of the reference';
    expect(of({ denoising_unet: taking({ reference: latents }) })).toEqual([]);
    expect(of({ denoising_unet: taking({}) })).toEqual([PROBLEM]);
    expect(of({ reference_unet, denoising_unet: taking({ bank_0, bank_1, reference: latents }) })).toEqual([
      PROBLEM,
    ]);
  });

  test('guidance without the network that it leads away from', () => {
    const unguided = (guidance: number): string[] => {
      const roles = { ...highsync.roles, denoising_unet_unconditional: undefined };
      return problems({ ...highsync, roles, params: { ...highsync.params, guidance } });
    };
    expect(unguided(3.5)).toEqual([': guidance needs the network without condition']);
    expect(unguided(1)).toEqual([]);
  });

  describe('a network that takes several steps in a call', () => {
    /** The pack with such a graph, whose declared number of steps and coefficients may be others. */
    const stepping = (steps: number | string = 3, coefficients = [3, 3]) => {
      const { unet3d } = latentsync.roles;
      const inputs = {
        ...unet3d.inputs,
        timestep: { ...unet3d.inputs.timestep, dims: [steps] },
        coefficients: { name: 'coefficients', dtype: 'float32' as const, dims: coefficients },
      };
      return { ...unet3d, inputs, outputs: { latent: { ...unet3d.inputs.latent, name: 'denoised' } } };
    };
    const of = (unet3d: object, params = latentsync.params): string[] =>
      problems({ ...latentsync, params, roles: { ...latentsync.roles, unet3d } });
    const ONE_RESULT =
      ': the network returns its prediction or, given coefficients for a fixed number of steps, the latent after them';

    test('returns the latent after its steps, and no other returns it', () => {
      const { inputs, outputs } = latentsync.roles.unet3d;
      expect(of(stepping())).toEqual([]);
      expect(of({ ...stepping(), outputs })).toEqual([ONE_RESULT]);
      expect(of({ ...stepping(), outputs: { ...outputs, ...stepping().outputs } })).toEqual([ONE_RESULT]);
      expect(of({ ...stepping(), inputs })).toEqual([ONE_RESULT]);
      expect(of(stepping('steps'))).toContain(ONE_RESULT);
    });

    test('takes a coefficient per step of the latent and of each condition', () => {
      expect(of(stepping(2))).toEqual([
        'roles.unet3d.inputs.coefficients: is float32 [3,3], the parameters ask for float32 [2,3]',
      ]);
      expect(of(stepping(), { ...latentsync.params, guidance: 1 })).toEqual([
        'roles.unet3d.inputs.coefficients: is float32 [3,3], the parameters ask for float32 [3,2]',
      ]);
      expect(of(stepping(3, [3, 2]), { ...latentsync.params, guidance: 1 })).toEqual([]);
    });
  });

  test('banks of different shapes in the two networks', () => {
    const roles = structuredClone(highsync.roles);
    const [bank] = Object.values(roles.reference_unet?.outputs ?? {});
    bank?.dims.splice(1, 1, 7);
    expect(problems({ ...highsync, roles })).toEqual([
      expect.stringContaining('roles.denoising_unet.inputs.bank_0: ') as string,
    ]);
  });

  test('a batch size that the graphs do not accept', () => {
    const roles = structuredClone(musetalk.roles);
    roles.unet.inputs.audio.dims[0] = 4;
    expect(problems({ ...musetalk, roles })).toEqual([
      'roles.unet.inputs.audio: is float32 [4,50,384], the parameters ask for float32 [8,50,384]',
    ]);
  });

  test('another fixed number of frames than a window has', () => {
    const { window } = latentsync.params;
    const problemsOf = (frames: number): string[] => {
      const roles = structuredClone(latentsync.roles);
      roles.unet3d.inputs.latent.dims[2] = frames;
      return problems({ ...latentsync, roles });
    };
    expect(problemsOf(window)).toEqual([]);
    expect(problemsOf(window - 1)).toEqual([
      expect.stringContaining('roles.unet3d.inputs.latent: ') as string,
    ]);
  });

  test('a network of both conditions without guidance', () => {
    const roles = structuredClone(latentsync.roles);
    roles.unet3d.outputs.prediction?.dims.splice(0, 1, 2);
    expect(problems({ ...latentsync, roles })).toEqual([]);
    const params = { ...latentsync.params, guidance: 1 };
    expect(problems({ ...latentsync, roles, params })).toEqual([
      expect.stringContaining('a network of both conditions is for guidance') as string,
    ]);
  });

  test('a tensor of half precision at the boundary', () => {
    const roles = structuredClone(latentsync.roles);
    roles.vae_decoder.inputs.latent.dtype = 'float16';
    expect(problems({ ...latentsync, roles })).toHaveLength(1);
  });

  test('rows of a mask outside its square', () => {
    const { mask } = latentsync.params;
    expect(ofLatentsync({ mask: { ...mask, spans: [[mask.size, 0, 1]] } })).toEqual([
      'params.mask: rows of the mask lie inside its square',
    ]);
  });
});

describe('a schedule', () => {
  const of = (changes: Partial<ScheduleParams>): string[] => {
    const schedule = { ...latentsync.params.schedule, ...changes };
    return problems({ ...latentsync, params: { ...latentsync.params, schedule } });
  };
  const OUTSIDE = 'params.schedule.steps: no step lies beyond those that the network was trained with';

  test('of distinct, decreasing steps within the training is accepted', () => {
    expect(of({ steps: [999, 500, 0] })).toEqual([]);
    expect(of({ steps: 1000, stepsOffset: 0 })).toEqual([]);
    expect(of({ steps: 1000, spacing: 'trailing' })).toEqual([]);
  });

  test('of more steps than the training had is refused', () => {
    expect(of({ steps: 2000, spacing: 'trailing' })).toEqual([
      'params.schedule.steps: there are no more steps than the network was trained with',
    ]);
  });

  test('that begins after the last training step is refused', () => {
    expect(of({ steps: [1000, 1] })).toEqual([OUTSIDE]);
    expect(of({ steps: 1000, stepsOffset: 1 })).toEqual([OUTSIDE]);
  });

  test.each([[[100, 900]], [[500, 500]]])('that does not decrease, %j, is refused', (steps) => {
    expect(of({ steps })).toEqual(['params.schedule.steps: timesteps fall']);
  });
});
