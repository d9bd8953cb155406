export {
  encodeModel,
  float,
  floats,
  GraphBuilder,
  type Attribute,
  type DataType,
  type ExternalData,
  type Graph,
  type Node,
  type Operand,
  type Tensor,
  type Value,
  type ValueInfo,
} from './onnx';
export { type AnalyzerParams } from './analyzer-params';
export { type AudioParams } from './audio-params';
export { type HighsyncParams } from './highsync-params';
export { type LatentParams } from './latent-params';
export { type LatentsyncParams } from './latentsync-params';
export {
  type AnalyzerManifest,
  type HighsyncManifest,
  type LatentsyncManifest,
  type Manifest,
  type MusetalkManifest,
  type PackEngine,
  type Provider,
  PROVIDERS,
} from './manifest';
export { type MusetalkParams } from './musetalk-params';
export {
  MANIFEST_FILE,
  modelPath,
  openPack,
  openPackFor,
  type Pack,
  type PackRef,
  packVersion,
  parseManifest,
  readPack,
  readPackAgain,
} from './open-pack';
export { type PackClaim } from './pack-claim';
export { rememberDigests } from './remember-digests';
export { type VerifyFilesOptions, verifyPackFiles } from './verify-pack-files';
export { copyPack } from './copy-pack';
export { PackError } from './pack-error';
export { sha256, sha256OfFile } from './pack-digest';
export { packFiles, packSize, weightsSize } from './pack-files';
export { packRoles, type PackRole } from './pack-roles';
export { publishPack } from './publish-pack';
export { type Probe } from './role';
export { type ScheduleParams } from './schedule-params';
export { type TensorSpec } from './tensor-spec';
export { modelFile, writePack } from './write-pack';
export { buildAnalyzerPack } from './builtin/analyzer/build-analyzer-pack';
export { writePassthroughPack } from './builtin/bench/passthrough-pack';
export { writeLatentsyncPack } from './builtin/latentsync/latentsync-pack';
export { buildBuiltinPacks } from './builtin/build-builtin-packs';
