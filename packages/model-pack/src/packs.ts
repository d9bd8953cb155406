import { z } from 'zod';
import { type Manifest as AnyManifest } from './manifest';
import { analyzerManifestSchema } from './manifests/analyzer-manifest';
import { highsyncManifestSchema } from './manifests/highsync-manifest';
import { latentsyncManifestSchema } from './manifests/latentsync-manifest';
import { musetalkManifestSchema } from './manifests/musetalk-manifest';
import { type Pack as AnyPack } from './pack';
import { createPackFormat } from './pack-format';

/** pack.json of the engines of this service, and of the analyzer that finds faces for all of them. */
export const manifestSchema = z.discriminatedUnion('engine', [
  analyzerManifestSchema,
  musetalkManifestSchema,
  latentsyncManifestSchema,
  highsyncManifestSchema,
]);

export type Manifest = z.infer<typeof manifestSchema>;
export type PackEngine = Manifest['engine'];
export type Pack<M extends AnyManifest = Manifest> = AnyPack<M>;

export const { copyPack, openPack, openPackFor, parseManifest, publishPack, readPack, readPackAgain, writePack } =
  createPackFormat(
    manifestSchema,
    manifestSchema.options.map(({ shape }) => shape.engine.value),
  );
