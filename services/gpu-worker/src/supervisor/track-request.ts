import { type UsablePack } from '../host/find-packs';
import { type AnalyzeResult } from '../protocol/messages';
import { type AssetRow, type PreparationRow } from '@lipsync/domain';
import { type FaceTrack } from '@lipsync/engines';

/** The face track that a job needs. */
export interface TrackRequest {
  readonly video: AssetRow;
  /** Path of the video in the job's folder. */
  readonly videoPath: string;
  readonly analyzer: UsablePack;
  /** Number of leading frames that the record depends on; Infinity for all. */
  readonly wantedFrames: number;
  /** The preparation whose track is to be used if possible. */
  readonly preparation: PreparationRow | null;
  /** When the record expires. */
  readonly expiresAt: Date;
  /** Called with the percentage of the analysis that is done. */
  readonly onProgress: (percent: number) => void;
}

export interface ObtainedTrack {
  readonly path: string;
  readonly track: FaceTrack;
  readonly from: 'preparation' | 'cache' | 'analysis';
  /** The analysis made by this job; null when the track already existed. */
  readonly analysis: AnalyzeResult | null;
  /** Whether the track is stored for other jobs. */
  readonly isKept: boolean;
}
