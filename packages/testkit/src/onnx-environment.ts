import { TestEnvironment } from 'jest-environment-node';

/**
 * A Jest environment for tests that run ONNX graphs: `@jest-environment ./packages/testkit/src/onnx-environment.ts`.
 *
 * Jest gives every test file its own copies of the typed-array constructors, while the native part of
 * onnxruntime-node creates tensors with those of the process, and its JavaScript part then rejects them by
 * `instanceof`. Sharing the process's constructors with the test file makes the two agree.
 */
export default class OnnxEnvironment extends TestEnvironment {
  override async setup(): Promise<void> {
    await super.setup();
    Object.assign(this.global, {
      Float32Array,
      Uint8Array,
      Int8Array,
      Uint16Array,
      Int32Array,
      BigInt64Array,
      ArrayBuffer,
    });
  }
}
