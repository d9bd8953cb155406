export { LANDMARK_INPUT_SIZE, landmarkPoints } from './analyzer/networks';
export { buildAnalyzerPack, faceApiWeights } from './analyzer/pack';
export { buildBuiltinPacks } from './builtin-packs';
export { writeLatentsyncPack } from './latentsync';
