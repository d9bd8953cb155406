export { BAD_FILES, BAD_REDIRECTS, type BadMediaOrigin, MEDIA_HOST, startBadMediaOrigin } from './bad-media';
