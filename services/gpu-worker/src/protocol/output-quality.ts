/** How well the mouth follows the voice, see FollowsVoice; null without enough faces, or without a voice. */
export interface SyncQuality {
  /** Pearson's correlation of the mouth's opening with the voice at the best lag; 0 when the mouth does not move. */
  readonly syncCorrelation: number | null;
  /** Frames by which the mouth follows the voice; null when it does not. */
  readonly syncLagFrames: number | null;
}

/** What is seen of an output without any graph. */
export interface SeenQuality {
  /** See FaceChange. */
  readonly seamLevels: number | null;
  readonly skinPsnrDb: number | null;
  /** Share of the output's frames that the engine left alone because they show no face that it can render. */
  readonly facelessShare: number;
  /**
   * Share of the output's frames whose face is larger than what the engine generates: enlarged, it is softer than what
   * surrounds it.
   */
  readonly enlargedShare: number;
  /** The largest factor by which a generated face was enlarged; below 1 all of them were made smaller. Null: no faces. */
  readonly largestEnlargement: number | null;
  /** Frames that sync, seam and skin were measured on. */
  readonly sampledFrames: number;
}

/** How good an output is as far as a machine can tell; for operators, never for customers. */
export interface OutputQuality extends SyncQuality, SeenQuality {
  /** Why measures are missing that should be there; null when nothing went wrong. */
  readonly problem: string | null;
}
