import { readFile } from 'node:fs/promises';
import init, { WasmReader } from '@contentauth/c2pa-wasm';

/** What the other implementation of C2PA says of a file: parts of its report. */
interface Report {
  readonly validation_state: 'Invalid' | 'Valid' | 'Trusted';
  readonly validation_status?: readonly { readonly code: string }[];
  readonly active_manifest: string;
  readonly manifests: Readonly<Record<string, ReportedManifest>>;
}

interface ReportedManifest {
  readonly claim_generator_info: readonly { readonly name: string; readonly version: string }[];
  readonly assertions: readonly { readonly label: string; readonly data: unknown }[];
  readonly ingredients: readonly {
    readonly title: string;
    readonly instance_id: string;
    readonly relationship: string;
    readonly active_manifest?: string;
  }[];
  readonly signature_info: { readonly alg: string; readonly common_name: string };
}

/** Reads and checks an MP4 with c2pa-rs, trusting one authority (PEM). Rejects where it finds nothing readable. */
export async function readCredentials(bytes: Uint8Array, authority: string): Promise<Report> {
  await (loaded ??= load());
  const settings = { trust: { trust_anchors: authority }, verify: { verify_trust: true } };
  const reader = await WasmReader.fromBytes('video/mp4', bytes, JSON.stringify(settings));
  try {
    return JSON.parse(reader.json()) as Report;
  } finally {
    reader.free();
  }
}

/** The manifest that describes the file. */
export function activeManifest({ manifests, active_manifest }: Report): ReportedManifest {
  const active = manifests[active_manifest];
  if (active === undefined) throw new Error('no active manifest');
  return active;
}

let loaded: Promise<void> | undefined;

async function load(): Promise<void> {
  const module = await readFile(require.resolve('@contentauth/c2pa-wasm/c2pa.wasm'));
  await init({ module_or_path: module });
}
