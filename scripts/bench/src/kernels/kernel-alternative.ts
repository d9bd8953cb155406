/** One way to crop a scene's face and to paste it back; each call does one frame's work. */
export interface KernelAlternative {
  crop(): void | Promise<void>;
  paste(): void | Promise<void>;
}
