import type * as C2pa from '@contentauth/c2pa-wasm';

/** What content credentials (C2PA) say of an MP4, as c2pa-rs found it. */
export interface Credentials {
  /** `valid`: as it was signed. `trusted`: also by somebody whom the given authorities vouch for. */
  readonly state: 'invalid' | 'valid' | 'trusted';
  /** C2PA's codes of what is wrong. An unknown authority is not among them. */
  readonly problems: readonly string[];
  readonly signer: Signer;
  readonly generator: string;
  readonly actions: readonly Action[];
  readonly ingredients: readonly Ingredient[];
}

interface Signer {
  readonly name: string;
  readonly organization: string;
  readonly algorithm: string;
}

interface Action {
  /** `edited`, for instance; C2PA's own actions without their prefix. */
  readonly action: string;
  readonly agent?: string;
  /** The last part of IPTC's term. */
  readonly source_type?: string;
  readonly when?: string;
}

interface Ingredient {
  readonly title: string;
  readonly relationship: string;
  /** SHA-256 in hexadecimal digits, if the ingredient is named by it. */
  readonly sha256?: string;
  /** Whether it had credentials of its own. */
  readonly has_credentials: boolean;
  /** What they say. */
  readonly credentials?: Pick<Credentials, 'signer' | 'generator'>;
}

/** c2pa-rs's report on a file, as far as it is read here. */
interface Report {
  readonly active_manifest: string;
  readonly manifests: Readonly<Record<string, Manifest>>;
  readonly validation_state: 'Invalid' | 'Valid' | 'Trusted';
  readonly validation_status?: readonly { readonly code: string }[];
}

interface Manifest {
  readonly claim_generator_info?: readonly Software[];
  readonly assertions?: readonly {
    readonly label: string;
    readonly data: { readonly actions?: readonly ReportedAction[] };
  }[];
  readonly ingredients?: readonly {
    readonly title?: string;
    readonly instance_id?: string;
    readonly relationship?: string;
    readonly active_manifest?: string;
  }[];
  readonly signature_info?: {
    readonly common_name?: string;
    readonly issuer?: string;
    readonly alg?: string;
  };
}

interface Software {
  readonly name: string;
  readonly version?: string;
}

interface ReportedAction {
  readonly action: string;
  readonly softwareAgent?: Software | string;
  readonly digitalSourceType?: string;
  readonly when?: string;
}

/** An unknown signer: a problem only if the caller named the authorities that it trusts. */
const UNKNOWN_SIGNER = 'signingCredential.untrusted';

/** How the library begins what it says of a file without a manifest. */
const NO_MANIFEST = 'JumbfNotFound';

let library: Promise<typeof C2pa> | undefined;

/**
 * Reads and checks the credentials of an MP4: bytes in memory, or, in a web worker alone, a Blob, which is read in
 * pieces. `wasm`: the bytes of the library's `c2pa.wasm`, or its URL; it is loaded once. `authorities`: PEM of those
 * that are trusted. Null if the file carries none. Connects to nobody. Rejects if the library cannot be loaded.
 */
export async function readCredentials(
  wasm: Uint8Array | string,
  file: Uint8Array | Blob,
  authorities?: string,
): Promise<Credentials | null> {
  const { WasmReader } = await (library ??= load(wasm));
  const settings = JSON.stringify({
    verify: { verify_trust: authorities !== undefined, remote_manifest_fetch: false, ocsp_fetch: false },
    ...(authorities === undefined ? {} : { trust: { trust_anchors: authorities } }),
  });
  let reader;
  try {
    reader = await (file instanceof Uint8Array
      ? WasmReader.fromBytes('video/mp4', file, settings)
      : WasmReader.fromBlob('video/mp4', file, settings));
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (message.includes(NO_MANIFEST)) return null;
    return { ...NOTHING, problems: [message] };
  }
  try {
    return credentialsIn(JSON.parse(reader.json()) as Report);
  } finally {
    reader.free();
  }
}

async function load(wasm: Uint8Array | string): Promise<typeof C2pa> {
  const loaded = await import('@contentauth/c2pa-wasm');
  await loaded.default({ module_or_path: wasm });
  return loaded;
}

const NOTHING = {
  state: 'invalid',
  signer: { name: '', organization: '', algorithm: '' },
  generator: '',
  actions: [],
  ingredients: [],
} as const;

function credentialsIn({ manifests, active_manifest, ...report }: Report): Credentials {
  const manifest = manifests[active_manifest] ?? {};
  const codes = (report.validation_status ?? []).map(({ code }) => code);
  const actions = (manifest.assertions ?? []).flatMap(({ data }) => data.actions ?? []);
  return {
    state: ({ Invalid: 'invalid', Valid: 'valid', Trusted: 'trusted' } as const)[report.validation_state],
    problems: [...new Set(codes)].filter((code) => code !== UNKNOWN_SIGNER),
    ...originOf(manifest),
    actions: actions.map(({ action, softwareAgent, digitalSourceType, when }) => ({
      action: action.replace(/^c2pa\./, ''),
      ...(softwareAgent === undefined ? {} : { agent: named(softwareAgent) }),
      ...(digitalSourceType === undefined ? {} : { source_type: digitalSourceType.replace(/^.*\//, '') }),
      ...(when === undefined ? {} : { when }),
    })),
    ingredients: (manifest.ingredients ?? []).map((ingredient) => {
      const [, sha256] = /^nih:sha-256;([0-9a-f]{64})$/.exec(ingredient.instance_id ?? '') ?? [];
      const own = manifests[ingredient.active_manifest ?? ''];
      return {
        title: ingredient.title ?? '',
        relationship: ingredient.relationship ?? '',
        ...(sha256 === undefined ? {} : { sha256 }),
        has_credentials: ingredient.active_manifest !== undefined,
        ...(own === undefined ? {} : { credentials: originOf(own) }),
      };
    }),
  };
}

function originOf({
  signature_info: signature,
  claim_generator_info: generators = [],
}: Manifest): Pick<Credentials, 'signer' | 'generator'> {
  return {
    signer: {
      name: signature?.common_name ?? '',
      organization: signature?.issuer ?? '',
      algorithm: signature?.alg ?? '',
    },
    generator: generators.map(named).join(', '),
  };
}

const named = (software: Software | string): string =>
  typeof software === 'string' ? software : [software.name, software.version ?? ''].join(' ').trim();
