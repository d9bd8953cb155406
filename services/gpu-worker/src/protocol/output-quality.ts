/** How well the mouth follows the voice, see FollowsVoice; null if there are too few faces or no voice. */
export interface SyncQuality {
  /** Pearson correlation of mouth opening and voice at the best lag; 0 when the mouth does not move. */
  readonly syncCorrelation: number | null;
  /** Number of frames by which the mouth lags the voice; null when it does not follow. */
  readonly syncLagFrames: number | null;
}

/** Measurements of an output that need no graph. */
export interface SeenQuality {
  /** See FaceChange. */
  readonly seamLevels: number | null;
  readonly skinPsnrDb: number | null;
  /** Share of the output's frames that the engine left alone because they show no face that it can render. */
  readonly facelessShare: number;
  /**
   * Share of the output's frames whose face is larger than the generated one, which is enlarged and therefore softer
   * than its surroundings.
   */
  readonly enlargedShare: number;
  /**
   * The largest factor by which a generated face was enlarged; below 1 all were scaled down. Null if there were no
   * faces.
   */
  readonly largestEnlargement: number | null;
  /** Number of frames in which sync, seam and skin were measured. */
  readonly sampledFrames: number;
}

/** The quality of an output as far as it can be measured; for operators, never for customers. */
export interface OutputQuality extends SyncQuality, SeenQuality {
  /** Why expected measurements are missing; null when nothing went wrong. */
  readonly problem: string | null;
}
