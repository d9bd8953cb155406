import {
  type AssetRow,
  type EngineRunRow,
  type PreparationRow,
  type RenderRow,
  type UploadRow,
} from '@lipsync/domain';
import { type Db } from '../postgres/db';
import { assetRow, uploadRow } from '../postgres/rows';

export interface IngestWork {
  asset: AssetRow;
  /** The upload that fills the asset; null if it is fetched from its URL. */
  upload: UploadRow | null;
}

export interface AnalyzeWork {
  preparation: PreparationRow;
  video: AssetRow;
}

export interface RenderWork {
  run: EngineRunRow;
  render: RenderRow;
  video: AssetRow;
  audio: AssetRow;
  /** The preparation whose face track to use; null to analyse the video. */
  preparation: PreparationRow | null;
}

/** The data that the ingest job of this asset works on. The row exists, because its job was claimed. */
export async function loadIngestWork(db: Db, assetId: string): Promise<IngestWork> {
  const [asset, upload] = await Promise.all([
    db.prisma.asset.findUniqueOrThrow({ where: { id: assetId } }),
    db.prisma.upload.findUnique({ where: { assetId } }),
  ]);
  return { asset: assetRow(asset), upload: upload && uploadRow(upload) };
}

/** The data that the analyze job of this preparation works on. */
export async function loadAnalyzeWork(db: Db, preparationId: string): Promise<AnalyzeWork> {
  const preparation = await db.prisma.preparation.findUniqueOrThrow({ where: { id: preparationId } });
  const video = await db.prisma.asset.findUniqueOrThrow({ where: { id: preparation.videoAssetId } });
  return { preparation, video: assetRow(video) };
}

/** The data that the render job of this engine run works on. */
export async function loadRenderWork(db: Db, engineRunId: string): Promise<RenderWork> {
  const { prisma } = db;
  const run = await prisma.engineRun.findUniqueOrThrow({ where: { id: engineRunId } });
  const render = await prisma.render.findUniqueOrThrow({ where: { id: run.renderId } });
  const { videoAssetId, audioAssetId, preparationId } = render;
  const [video, audio, preparation] = await Promise.all([
    prisma.asset.findUniqueOrThrow({ where: { id: videoAssetId } }),
    prisma.asset.findUniqueOrThrow({ where: { id: audioAssetId } }),
    preparationId === null ? null : prisma.preparation.findUnique({ where: { id: preparationId } }),
  ]);
  return { run, render, video: assetRow(video), audio: assetRow(audio), preparation };
}
