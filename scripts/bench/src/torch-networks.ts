import path from 'node:path';
import { REPOSITORY_ROOT } from '@lipsync/local-stack';
import { Skipped, type StepTools } from './checklist';
import { type EngineManifest } from './pack-bench';
import { reportsOf } from './reporting-process';

/** What PyTorch makes of a pack's networks, and what the pack makes for each frame of that. */
export interface TorchFigures {
  /** The lines of `scripts/export/torch_speed.py`. */
  readonly torch: readonly TorchReport[];
  /** Frames a second of the pack's networks ÷ those of the same networks in PyTorch, by variant. Above 1 the pack is faster. */
  readonly ratio: Readonly<Record<string, number>>;
}

interface TorchReport {
  readonly network?: string;
  readonly variant?: string;
  /** The speed of all networks together, with the variant. */
  readonly frames_per_second?: number;
}

interface Comparison {
  /** A Python with torch and what upstream's inference needs. */
  readonly python: string | undefined;
  /** A folder with checkouts of the upstreams. */
  readonly upstream: string | undefined;
  readonly manifest: EngineManifest;
  /** Frames a second of the pack's networks alone. */
  readonly packFps: number | undefined;
  /** On the CPU, with networks that are small enough for it. */
  readonly dryRun: boolean;
}

const PROGRAM = path.join(REPOSITORY_ROOT, 'scripts', 'export', 'torch_speed.py');
/** By the names of their repositories; MuseTalk's networks are diffusers'. */
const CHECKOUTS = { musetalk: undefined, latentsync: 'LatentSync', highsync: 'high_sync' };
/** As upstream's scripts run them, and as fast as that was made in PyTorch. */
const VARIANTS = ['eager', 'graph'];
/** Networks of a plan in all variants, and as many again for what each prepares. */
const SHARES = 16;

/** Times a pack's networks in PyTorch, at their published size with random weights. Throws Skipped where that cannot be done. */
export async function measureTorch(
  { python, upstream, manifest, packFps, dryRun }: Comparison,
  { signal, found, secondsLeft }: StepTools,
): Promise<TorchFigures> {
  if (python === undefined) throw new Skipped('no Python with torch is named (--python)');
  const { engine, name } = manifest;
  if (!dryRun && name.startsWith('builtin-'))
    throw new Skipped('the networks of a built-in pack are nobody else’s');
  const checkout = CHECKOUTS[engine];
  if (!dryRun && checkout !== undefined && upstream === undefined)
    throw new Skipped(`a folder with ${checkout} is not named (--upstream)`);
  const networks = dryRun
    ? ['--size', 'small', '--device', 'cpu', '--variants', 'eager']
    : ['--plan', planOf(manifest), '--variants', ...VARIANTS];
  const from = dryRun || checkout === undefined ? [] : ['--upstream', path.join(upstream ?? '', checkout)];
  const limit = Math.max(1, Math.min(60, secondsLeft() / SHARES));
  const torch: TorchReport[] = [];
  const ratio: Record<string, number> = {};
  const args = [PROGRAM, engine, ...networks, ...from, '--seconds', String(limit)];
  try {
    for await (const line of reportsOf<TorchReport>(python, args, signal)) {
      torch.push(line);
      const { variant, frames_per_second: fps } = line;
      if (variant !== undefined && fps !== undefined && packFps !== undefined) ratio[variant] = packFps / fps;
      found({ torch: [...torch], ratio: { ...ratio } });
    }
  } catch (error) {
    const [missing] = /ModuleNotFoundError: .*|spawn .* ENOENT/.exec(String(error)) ?? [];
    throw missing === undefined ? error : new Skipped(missing);
  }
  return { torch, ratio };
}

/** The plan of torch_speed.py that makes frames as the pack does, or as upstream's scripts do where these differ. */
function planOf(manifest: EngineManifest): string {
  if (manifest.engine !== 'latentsync') return manifest.engine;
  const isCached = manifest.roles.unet3d.inputs.coefficients !== undefined;
  return `latentsync-${manifest.params.resolution}${isCached ? '-deep-cache' : ''}`;
}
