export {
  awaitAsset,
  awaitPreparation,
  awaitRender,
  createAdmin,
  expectRefusal,
  killHard,
  startSystem,
  type System,
} from './system';
