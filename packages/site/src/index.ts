export { buildSite, type Site, type SitePage } from './build-site';
export { assetsFolder } from './assets';
