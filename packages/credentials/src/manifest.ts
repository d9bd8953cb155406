import { randomUUID } from 'node:crypto';
import type { CBORBox } from '@trustnxt/c2pa-ts/jumbf';
import type { ActionAssertion, Manifest } from '@trustnxt/c2pa-ts/manifest';
import type { Tag } from 'cbor-x';
import { type SigningIdentity } from './signing-identity';
import { type SourceManifests } from './source-manifests';

/** What a manifest says of an output. */
export interface Provenance {
  /** The service. */
  readonly generator: { readonly name: string; readonly version: string };
  /** What generated the mouth: the engine with its pack. */
  readonly agent: { readonly name: string; readonly version: string };
  /** SHA-256 of the files that it was made of, in hexadecimal digits. */
  readonly videoSha256: string;
  readonly voiceSha256: string;
  readonly when: Date;
}

/** A manifest store that lacks only the hash of its file. */
interface UnsignedManifest {
  /** Its size, in bytes, signed or not. */
  readonly bytes: number;
  /** The signed store. `hash`: SHA-256 of what the hard binding covers. */
  sign(hash: Uint8Array): Promise<Uint8Array>;
}

const HASH = 'SHA-256';

/**
 * The library consists of ES modules, which a CommonJS program can load only so; and its encoder knows tags only by the
 * class that is loaded in the same way.
 */
const library = async () => ({
  ...(await import('@trustnxt/c2pa-ts/manifest')),
  Tag: (await import('cbor-x')).Tag,
});
type Library = Awaited<ReturnType<typeof library>>;

/**
 * Makes the manifest of an output (C2PA 2.2): the video was opened, the voice placed, the mouth edited. What the video
 * carried itself is kept, unchanged and unjudged: readers validate it again.
 */
export async function createManifest(
  identity: SigningIdentity,
  provenance: Provenance,
  source: SourceManifests | null,
): Promise<UnsignedManifest> {
  const c2pa = await library();
  const store = new c2pa.ManifestStore();
  const manifest = store.createManifest({
    claimVersion: c2pa.ClaimVersion.V2,
    assetFormat: 'video/mp4',
    instanceID: `xmp:iid:${randomUUID()}`,
    defaultHashAlgorithm: HASH,
    signer: identity,
  });
  const { claim, signature } = manifest;
  if (claim === undefined || signature === undefined) throw new Error('a manifest without a claim');
  claim.claimGeneratorName = provenance.generator.name;
  claim.claimGeneratorVersion = provenance.generator.version;
  // The signature's length is known, so nothing has to be reserved for it.
  signature.signatureData.paddingLength = 0;
  signature.signatureData.signature = new Uint8Array(identity.signatureBytes);

  addActions(c2pa, manifest, provenance, source);
  const binding = c2pa.BMFFHashAssertion.createV3('the whole file', HASH);
  manifest.addAssertion(binding);
  await manifest.sign(identity);
  const bytes = withSource(store.getBytes(), source).length;

  return {
    bytes,
    sign: async (hash) => {
      binding.hash = hash;
      await manifest.sign(identity);
      return withSource(store.getBytes(), source);
    },
  };
}

function addActions(
  c2pa: Library,
  manifest: Manifest,
  provenance: Provenance,
  source: SourceManifests | null,
): void {
  const { ActionAssertion, ActionType, DigitalSourceType, IngredientAssertion, RelationshipType } = c2pa;
  const video = IngredientAssertion.createV3(RelationshipType.ParentOf);
  video.title = 'video';
  video.instanceID = namedByHash(provenance.videoSha256);
  if (source !== null) {
    const uri = `self#jumbf=/c2pa/${source.label}`;
    video.activeManifest = { uri, hash: source.hash, algorithm: HASH };
    video.claimSignature = { uri: `${uri}/c2pa.signature`, hash: source.signatureHash, algorithm: HASH };
    video.validationResults = { activeManifest: { success: [], informational: [], failure: [] } };
  }
  const voice = IngredientAssertion.createV3(RelationshipType.ComponentOf);
  voice.title = 'voice';
  voice.instanceID = namedByHash(provenance.voiceSha256);
  voice.labelSuffix = 1;
  manifest.addAssertion(video);
  manifest.addAssertion(voice);

  const actions = new ActionAssertion();
  actions.actions = [
    {
      action: ActionType.C2paOpened,
      parameters: { ingredients: [manifest.createAssertionReference(video)] },
    },
    {
      action: ActionType.C2paPlaced,
      parameters: { ingredients: [manifest.createAssertionReference(voice)] },
    },
    {
      action: ActionType.C2paEdited,
      digitalSourceType: DigitalSourceType.CompositeWithTrainedAlgorithmicMedia,
      softwareAgent: provenance.agent,
    },
  ];
  // Tag 0: a date and time as text (RFC 8949, section 3.4.1).
  dateActions(actions, new c2pa.Tag(provenance.when.toISOString(), 0));
  manifest.addAssertion(actions);
}

/** RFC 6920, section 7: names a file by its hash, in digits that people can compare. */
const namedByHash = (sha256: string): string => `nih:sha-256;${sha256}`;

/** Gives actions the time at which they were done, which the library does not write. */
function dateActions(assertion: ActionAssertion, when: Tag): void {
  const undated = assertion.generateJUMBFBoxForContent.bind(assertion);
  assertion.generateJUMBFBoxForContent = (claim) => {
    const box = undated(claim) as CBORBox;
    const { actions } = box.content as { actions: { when?: Tag }[] };
    for (const action of actions) action.when = when;
    return box;
  };
}

/** The store with the source's manifests before its own, which is the last and therefore the active one. */
function withSource(store: Uint8Array, source: SourceManifests | null): Uint8Array {
  if (source === null) return store;
  const own = Buffer.from(store);
  // The store's description, whose size is its first field, comes before the manifests.
  const head = 8 + own.readUInt32BE(8);
  const joined = Buffer.concat([own.subarray(0, head), source.bytes, own.subarray(head)]);
  joined.writeUInt32BE(joined.length, 0);
  return joined;
}
