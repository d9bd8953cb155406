export { awaitAsset, awaitPreparation, awaitRender } from './await-record';
export { expectRefusal } from './refusal';
export { createAdmin } from './run-admin';
export { startSystem, type System } from './system';
