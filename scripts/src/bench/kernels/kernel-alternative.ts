/** One way to cut a scene's face out and to put it back; each call is one frame's work. */
export interface KernelAlternative {
  crop(): void | Promise<void>;
  paste(): void | Promise<void>;
}
