/** What of the WebAssembly API this package uses: the types of Node leave it to the browser's. */
declare namespace WebAssembly {
  class Memory {
    /** Sizes in pages of 64 KiB. */
    constructor(descriptor: { initial: number; maximum: number });
    readonly buffer: ArrayBuffer;
  }
  class Module {
    constructor(bytes: Uint8Array);
  }
  /** `Exports` is what the module is known to export. */
  class Instance<Exports> {
    constructor(module: Module, imports: Record<string, Record<string, Memory>>);
    readonly exports: Exports;
  }
}
