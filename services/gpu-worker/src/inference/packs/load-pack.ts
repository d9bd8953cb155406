import { modelPath, packRoles, type Manifest, type Pack, type PackRole } from '@lipsync/model-pack';
import { halveWhenOutOfMemory } from '../sessions/halved-session';
import { SessionError, type Session, type SessionHost, type Tensors } from '../sessions/session';
import { declaredTensors, tensorMismatch, type PackTensors } from './compare-tensors';
import { probeMismatch } from './probe-graph';
import { outputTargets } from './output-targets';
import { type RunModel } from './run-model';

/** A pack whose graphs are loaded. */
export interface LoadedPack {
  /** The execution provider that its graphs run on. */
  readonly provider: Provider;
  readonly run: RunModel;
  readonly release: () => Promise<void>;
}

export type Provider = Manifest['providers'][number];

/** How this process runs graphs. */
export interface GraphSettings {
  /** Threads inside one graph. */
  readonly threads: number;
  /** Execution providers that may be used, preferred first; what the pack prefers when absent. */
  readonly providers?: readonly Provider[];
}

export interface LoadOptions extends GraphSettings {
  readonly probe: boolean;
  /** Which of the pack's graphs to load; all when absent. */
  readonly only?: readonly string[];
}

/**
 * Loads the graphs of a pack on the first provider that pack and settings allow and this machine has. With `probe` each
 * graph is also run once on the manifest's probe. Rejects with SessionError when a graph cannot be loaded, declares other
 * tensors than the manifest says, or computes something else.
 */
export async function loadPack(host: SessionHost, pack: Pack, options: LoadOptions): Promise<LoadedPack> {
  const { only } = options;
  const roles = new Map([...packRoles(pack.manifest)].filter(([name]) => only?.includes(name) ?? true));
  const { provider, sessions } = await openAll(host, pack, roles, options);
  const release = async (): Promise<void> => {
    for (const session of sessions.values()) await session.release();
  };
  try {
    for (const [name, session] of sessions) await check(name, roles.get(name), session, options.probe);
  } catch (error) {
    await release();
    throw error;
  }

  const run: RunModel = async (name, feeds, take) => {
    const session = sessions.get(name);
    const role = roles.get(name);
    if (!session || !role) throw new SessionError('run_failed', `the pack has no role '${name}'`);
    const targets = take === undefined ? {} : outputTargets(role, feeds, take);
    const result = await session.run(
      renamed(feeds, role.inputs, 'toGraph'),
      renamed(targets, role.outputs, 'toGraph'),
    );
    return {
      outputs: renamed(result.outputs, role.outputs, 'toManifest'),
      feeds: renamed(result.feeds, role.inputs, 'toManifest'),
    };
  };
  return { provider, run, release };
}

/** All graphs on one provider: a pack split over two would copy every tensor between them. */
async function openAll(
  host: SessionHost,
  pack: Pack,
  roles: ReadonlyMap<string, PackRole>,
  { threads, providers }: GraphSettings,
): Promise<{ provider: Provider; sessions: Map<string, Session> }> {
  const { manifest } = pack;
  const allowed =
    providers?.filter((provider) => manifest.providers.includes(provider)) ?? manifest.providers;
  if (allowed.length === 0) {
    const wanted = manifest.providers.join(', ');
    throw new SessionError(
      'load_failed',
      `the pack is made for ${wanted}; this worker may use ${providers?.join(', ')}`,
    );
  }
  const refusals: string[] = [];
  for (const provider of allowed) {
    const sessions = new Map<string, Session>();
    try {
      for (const [name, role] of roles) {
        const session = await host.open(modelPath(pack, role), { threads, providers: [provider] });
        sessions.set(name, halveWhenOutOfMemory(session));
      }
      return { provider, sessions };
    } catch (error) {
      for (const session of sessions.values()) await session.release();
      if (!(error instanceof SessionError) || error.reason !== 'load_failed') throw error;
      refusals.push(`${provider}: ${error.message}`);
    }
  }
  throw new SessionError('load_failed', refusals.join('; '));
}

async function check(
  name: string,
  role: PackRole | undefined,
  session: Session,
  probe: boolean,
): Promise<void> {
  if (!role) throw new SessionError('load_failed', `the pack has no role '${name}'`);
  const problem =
    tensorMismatch(role, session) ??
    (probe && role.probe ? await probeMismatch(role, role.probe, session) : undefined);
  if (problem) throw new SessionError('load_failed', `${name}: ${problem}`);
}

/** Tensors under the other set of names; those that the manifest does not know keep theirs. */
function renamed(tensors: Tensors, specs: PackTensors, direction: 'toGraph' | 'toManifest'): Tensors {
  const names = new Map(
    declaredTensors(specs).map(([key, { name }]) => (direction === 'toGraph' ? [key, name] : [name, key])),
  );
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [names.get(name) ?? name, tensor]),
  );
}
