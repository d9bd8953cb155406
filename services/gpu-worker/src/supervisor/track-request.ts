import { type AssetRow, type PreparationRow } from '@lipsync/domain';
import { type FaceTrack } from '@lipsync/lipsync';
import { type UsablePack } from '../host/find-packs';
import { type AnalyzeResult } from '../protocol/messages';

/** The face track that a job needs. */
export interface TrackRequest {
  readonly video: AssetRow;
  /** Where its bytes lie in the job's folder. */
  readonly videoPath: string;
  readonly analyzer: UsablePack;
  /** Frames from the start that the record depends on; Infinity for all. */
  readonly wantedFrames: number;
  /** Whose track is to be used, if it can be. */
  readonly preparation: PreparationRow | null;
  /** Of the record. */
  readonly expiresAt: Date;
  /** Called with the percentage of the analysis that is done. */
  readonly onProgress: (percent: number) => void;
}

export interface ObtainedTrack {
  readonly path: string;
  readonly track: FaceTrack;
  readonly from: 'preparation' | 'cache' | 'analysis';
  /** This job's own; null when the track was there. */
  readonly analysis: AnalyzeResult | null;
  /** Whether others will find it, too. */
  readonly isKept: boolean;
}
