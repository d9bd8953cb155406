import {
  float32Tensor,
  type Pack,
  type RunModel,
  SessionError,
  type TakeFloats,
  type Tensor,
  type Tensors,
} from '@lipsync/engines';
import {
  modelPath,
  type PackRole,
  packRoles,
  type Provider,
  verifyPackFiles,
  weightsSize,
} from '@lipsync/model-pack';
import { type ProbeReading } from '../../protocol/messages';
import { halveWhenOutOfMemory } from '../sessions/halved-session';
import { type Session, type SessionHost } from '../sessions/session';
import {
  declaredTensors,
  expectFinite,
  type PackTensors,
  type RoleTensors,
  runProbe,
  tensorMismatch,
} from './check-graph';

/** A pack whose graphs are loaded. */
export interface LoadedPack {
  /** The execution provider that its graphs run on. */
  readonly provider: Provider;
  /** Why each more preferred provider was passed over, one line each. */
  readonly passedOver: readonly string[];
  /** What the probes found, if they ran. */
  readonly probes: readonly ProbeReading[];
  readonly run: RunModel;
  readonly release: () => Promise<void>;
}

/** How this process runs graphs. */
export interface GraphSettings {
  /** Number of the machine's cores that this process may use. */
  readonly cores: number;
  /** Execution providers that may be used, preferred first; default: the pack's own preference. */
  readonly providers?: readonly Provider[];
}

export interface LoadOptions extends GraphSettings {
  readonly probe: boolean;
  /** Which of the pack's graphs to load; default: all. */
  readonly only?: readonly string[];
  /** SHA-256 of a file, see verifyPackFiles. */
  readonly digestOf?: (path: string) => Promise<string>;
}

/**
 * Verifies a pack's files against the manifest, then loads its graphs on the first provider that pack and settings
 * allow and that works here. With `probe` each graph is also run once on the manifest's probe, because a provider that
 * loads a graph may still fail to run it. Rejects with PackError when a file does not match; with SessionError when on
 * every provider a graph cannot be loaded, declares different tensors than the manifest, or computes something else.
 */
export async function loadPack(host: SessionHost, pack: Pack, options: LoadOptions): Promise<LoadedPack> {
  const { only, digestOf } = options;
  await verifyPackFiles(pack, { ...(only && { roles: only }), ...(digestOf && { digestOf }) });
  const roles = new Map([...packRoles(pack.manifest)].filter(([name]) => only?.includes(name) ?? true));
  const { provider, passedOver, sessions, probes } = await openOnFirst(host, pack, roles, options);

  const run: RunModel = async (name, feeds, take) => {
    const session = sessions.get(name);
    const role = roles.get(name);
    if (!session || !role) throw new SessionError('run_failed', `the pack has no role '${name}'`);
    const targets = take === undefined ? {} : outputTargets(role, feeds, take);
    const result = await session.run(
      renamed(feeds, role.inputs, 'toGraph'),
      renamed(targets, role.outputs, 'toGraph'),
    );
    expectFinite(name, result);
    return {
      outputs: renamed(result.outputs, role.outputs, 'toManifest'),
      feeds: renamed(result.feeds, role.inputs, 'toManifest'),
    };
  };
  return { provider, passedOver, probes, run, release: () => releaseAll(sessions) };
}

async function openOnFirst(
  host: SessionHost,
  pack: Pack,
  roles: ReadonlyMap<string, PackRole>,
  options: LoadOptions,
): Promise<{ provider: Provider; passedOver: string[] } & OpenedPack> {
  const passedOver: string[] = [];
  for (const provider of allowedProviders(pack, options)) {
    try {
      return { provider, passedOver, ...(await openAll(host, pack, roles, provider, options)) };
    } catch (error) {
      // Memory may be free again for the next task, so running out of it is no reason to change the provider.
      const refused = error instanceof SessionError && ['load_failed', 'run_failed'].includes(error.reason);
      if (!refused) throw error;
      passedOver.push(`${provider}: ${error.message}`);
    }
  }
  throw new SessionError('load_failed', passedOver.join('; '));
}

function allowedProviders({ manifest }: Pack, { providers }: GraphSettings): readonly Provider[] {
  const allowed =
    providers?.filter((provider) => manifest.providers.includes(provider)) ?? manifest.providers;
  if (allowed.length > 0) return allowed;
  const made = `the pack is made for ${manifest.providers.join(', ')}`;
  throw new SessionError('load_failed', `${made}; this worker may use ${providers?.join(', ')}`);
}

type Sessions = ReadonlyMap<string, Session>;

interface OpenedPack {
  readonly sessions: Sessions;
  readonly probes: readonly ProbeReading[];
}

/** All graphs on one provider: a pack split over two would copy every tensor between them. */
async function openAll(
  host: SessionHost,
  pack: Pack,
  roles: ReadonlyMap<string, PackRole>,
  provider: Provider,
  { cores, probe }: LoadOptions,
): Promise<OpenedPack> {
  const threads = await graphThreads(pack, provider, cores);
  const sessions = new Map<string, Session>();
  const probes: ProbeReading[] = [];
  try {
    for (const [name, role] of roles) {
      const session = await host.open(modelPath(pack, role), { threads, providers: [provider] });
      sessions.set(name, halveWhenOutOfMemory(session));
    }
    for (const [name, session] of sessions)
      probes.push(...(await check(name, roles.get(name), session, probe)));
    return { sessions, probes };
  } catch (error) {
    await releaseAll(sessions);
    throw error;
  }
}

async function releaseAll(sessions: Sessions): Promise<void> {
  for (const session of sessions.values()) await session.release();
}

async function check(
  name: string,
  role: PackRole | undefined,
  session: Session,
  probe: boolean,
): Promise<ProbeReading[]> {
  if (!role) throw new SessionError('load_failed', `the pack has no role '${name}'`);
  const mismatch = tensorMismatch(role, session);
  const result =
    mismatch === undefined && probe && role.probe ? await runProbe(role, role.probe, session) : { mismatch };
  if (!('mismatch' in result)) return [{ role: name, ...result }];
  if (result.mismatch !== undefined) throw new SessionError('load_failed', `${name}: ${result.mismatch}`);
  return [];
}

/** Renames tensors to the other set of names; those unknown to the manifest keep theirs. */
function renamed(tensors: Tensors, specs: PackTensors, direction: 'toGraph' | 'toManifest'): Tensors {
  const names = new Map(
    declaredTensors(specs).map(([key, { name }]) => (direction === 'toGraph' ? [key, name] : [name, key])),
  );
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [names.get(name) ?? name, tensor]),
  );
}

/**
 * Allocates the outputs of a role whose shapes follow from its feeds: every dimension is a number, or a name whose size
 * the feeds determine. Keyed by the manifest's names, like the feeds.
 */
function outputTargets(role: RoleTensors, feeds: Tensors, take: TakeFloats): Tensors {
  const sizes = new Map<string, number>();
  for (const [key, { dims }] of declaredTensors(role.inputs)) {
    dims.forEach((dim, axis) => {
      const size = feeds[key]?.dims[axis];
      if (typeof dim === 'string' && size !== undefined) sizes.set(dim, size);
    });
  }
  const targets: Record<string, Tensor> = {};
  for (const [key, { dtype, dims }] of declaredTensors(role.outputs)) {
    const known = dims.flatMap((dim) => (typeof dim === 'number' ? dim : (sizes.get(dim) ?? [])));
    if (dtype !== 'float32' || known.length < dims.length) continue;
    targets[key] = float32Tensor(take(known.reduce((product, size) => product * size, 1)), known);
  }
  return targets;
}

/**
 * Networks with this many bytes of weights take about a second per face on a CPU, so decoder and encoder wait for them.
 */
const HEAVY_BYTES = 256 * 2 ** 20;

/**
 * Number of threads inside a pack's graph on a given provider: half of the process's cores, because the other half
 * decodes, encodes and moves pixels; all of them where that work is negligible beside the networks.
 */
export async function graphThreads(pack: Pack, provider: Provider, cores: number): Promise<number> {
  // A missing file is reported where it is loaded.
  const heavy = provider === 'cpu' && (await weightsSize(pack).catch(() => 0)) >= HEAVY_BYTES;
  return heavy ? cores : Math.max(1, Math.floor(cores / 2));
}
