export { assetsFolder, buildSite, type Site } from './build-site';
