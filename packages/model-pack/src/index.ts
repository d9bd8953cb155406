export { encodeModel } from './onnx/encode-model';
export { float, type Attribute, type Graph, type ValueInfo } from './onnx/encode-model';
export { GraphBuilder, type Operand, type Value } from './onnx/graph-builder';

export { type Provider, PROVIDERS } from './manifest';

export { MANIFEST_FILE, modelPath, type PackRef, packVersion } from './pack';

export { type PackClaim } from './pack';
export { rememberDigests } from './pack';
export { verifyPackFiles } from './pack';

export { PackError } from './pack';
export { sha256, sha256OfFile } from './pack';
export { packFiles, packSize, weightsSize } from './pack';
export { packRoles, type PackRole } from './manifest';

export { type Probe } from './manifest';

export { type TensorSpec } from './manifest';
export { modelFile } from './pack';
export { type Pack } from './pack';
export { type Manifest, manifestSchema, roleSchema, tensorSpecSchema } from './manifest';
export {
  type ExpectedRole,
  type ExpectedTensor,
  expectFloats,
  type Size,
  refuseMismatches,
  type ExpectedRoles,
  TIMESTEP,
} from './expected-tensors';
export { createPackFormat } from './pack-format';
