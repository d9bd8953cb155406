export { assetsFolder, buildSite, type Site, type SitePage } from './build-site';
