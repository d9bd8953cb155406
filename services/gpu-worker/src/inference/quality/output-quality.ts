/** How good an output is as far as a machine can tell; for operators, never for customers. */
export interface OutputQuality {
  /** Pearson's correlation of the mouth's opening with the voice at the best lag; null without enough faces. */
  readonly syncCorrelation: number | null;
  /** Frames by which the mouth follows the voice. */
  readonly syncLagFrames: number | null;
  /** See FaceChange. */
  readonly seamLevels: number | null;
  readonly skinPsnrDb: number | null;
  /** Share of the output's frames that passed untouched because they show no face. */
  readonly facelessShare: number;
  /** Frames that the measures were taken on. */
  readonly sampledFrames: number;
}
