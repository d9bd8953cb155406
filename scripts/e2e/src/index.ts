export {
  awaitAsset,
  awaitPreparation,
  awaitRender,
  createAdmin,
  expectRefusal,
  startSystem,
  type System,
} from './system';
