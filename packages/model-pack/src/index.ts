export {
  type ExpectedRole,
  type ExpectedRoles,
  type ExpectedTensor,
  expectBytes,
  expectFloats,
  refuseMismatches,
  type Size,
  TIMESTEP,
} from './expected-tensors';
export {
  floatTensor,
  type Manifest,
  manifestSchema,
  type PackRole,
  packRoles,
  type Probe,
  type Provider,
  PROVIDERS,
  roleSchema,
  type TensorSpec,
  tensorSpecSchema,
} from './manifest';
export { decodeConstants } from './onnx/decode-constants';
export { decodeNetwork, type Network } from './onnx/decode-network';
export { type Attribute, encodeModel, float, type Graph } from './onnx/encode-model';
export { GraphBuilder, type Operand, type Value } from './onnx/graph-builder';
export {
  MANIFEST_FILE,
  modelFile,
  modelPath,
  type Pack,
  type PackClaim,
  PackError,
  packFiles,
  type PackRef,
  packSize,
  packVersion,
  rememberDigests,
  sha256,
  sha256OfFile,
  verifyPackFiles,
  weightsSize,
} from './pack';
export { createPackFormat } from './pack-format';
