import { createPackFormat, type Manifest as AnyManifest, type Pack as AnyPack } from '@lipsync/model-pack';
import { z } from 'zod';
import { analyzerManifestSchema } from './analyzer/manifest';
import { highsyncManifestSchema } from './highsync/manifest';
import { latentsyncManifestSchema } from './latentsync/manifest';
import { musetalkManifestSchema } from './musetalk/manifest';

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

export const {
  copyPack,
  openPack,
  openPackFor,
  parseManifest,
  publishPack,
  readPack,
  readPackAgain,
  writePack,
} = createPackFormat(
  manifestSchema,
  manifestSchema.options.map(({ shape }) => shape.engine.value),
);
