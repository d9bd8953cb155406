import { manifestSchema, roleSchema } from '@lipsync/model-pack';
import { type z } from 'zod';
import { analyzerParamsSchema } from './analyzer-params';

export const analyzerManifestSchema = manifestSchema(
  'analyzer',
  {
    face_detector: roleSchema(['image'], ['boxes', 'scores']),
    landmarks68: roleSchema(['image'], ['points']),
  },
  analyzerParamsSchema,
);

export type AnalyzerManifest = z.infer<typeof analyzerManifestSchema>;
