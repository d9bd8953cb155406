import { applyTheme, storedTheme } from '@lipsync/studio/theme';

// Before anything is drawn: a page that turns dark afterwards flashes.
applyTheme(storedTheme());
