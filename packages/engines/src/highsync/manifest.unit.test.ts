import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { manifestSchema, openPackFor } from '../packs';
import { type HighsyncManifest } from './manifest';
import { writeHighsyncPack } from './pack';

describe('a highsync manifest', () => {
  let folder: string;
  let valid: HighsyncManifest;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'highsync-manifest-'));
    await writeHighsyncPack(folder);
    valid = (await openPackFor('highsync', folder)).manifest;
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const problems = (change: (manifest: HighsyncManifest) => unknown): string[] =>
    manifestSchema.safeParse(change(structuredClone(valid))).error?.issues.map(({ message }) => message) ??
    [];
  const params = (changes: Partial<HighsyncManifest['params']>): string[] =>
    problems((manifest) => ({ ...manifest, params: { ...manifest.params, ...changes } }));

  test('of the built-in pack is valid', () => {
    expect(problems((manifest) => manifest)).toEqual([]);
  });

  test('is refused if its windows would not advance', () => {
    expect(params({ window: 12, overlap: 12 })).toEqual(['windows overlap by less than a window']);
  });

  test.each([
    { top: 0, bottom: 32, left: 0, right: 31 },
    { top: 0, bottom: 31, left: 0, right: 32 },
    { top: 9, bottom: 8, left: 0, right: 31 },
    { top: 0, bottom: 31, left: 5, right: 4 },
  ])('is refused if its rectangle %j is not within its latent', (mask) => {
    expect(params({ mask })).toEqual(['the rectangle lies inside the latent']);
  });

  test('is refused if its networks do not share their banks', () => {
    const unshared = problems(({ roles, ...manifest }) => {
      const { bank_0, ...inputs } = roles.denoising_unet.inputs;
      return {
        ...manifest,
        roles: {
          ...roles,
          denoising_unet: { ...roles.denoising_unet, inputs: { ...inputs, bank_1: bank_0 } },
        },
      };
    });
    expect(unshared).toEqual(['the denoising network takes the banks that the reference network gives']);
  });

  test('is refused if its denoising network has an input that nothing provides', () => {
    const unknown = problems(({ roles, ...manifest }) => {
      const { denoising_unet: role } = roles;
      const inputs = { ...role.inputs, class_label: { name: 'class_label', dtype: 'int64', dims: [1] } };
      return { ...manifest, roles: { ...roles, denoising_unet: { ...role, inputs } } };
    });
    expect(unknown).toEqual(['the denoising network takes the banks that the reference network gives']);
  });

  test('is refused with guidance but without an unconditional network', () => {
    const unguided = (guidance: number): string[] =>
      problems(({ roles, ...manifest }) => ({
        ...manifest,
        roles: { ...roles, denoising_unet_unconditional: undefined },
        params: { ...manifest.params, guidance },
      }));
    expect(unguided(3.5)).toEqual(['guidance needs the network without condition']);
    expect(unguided(1)).toEqual([]);
  });
});
