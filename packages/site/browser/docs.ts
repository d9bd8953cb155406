import { followReading } from './contents';
import { addCopyButtons } from './copy';
import { openSearchByKeys } from './search';
import { rememberLanguage } from './tabs';
import { startThemeSwitch } from './theme-switch';

startThemeSwitch();
openSearchByKeys();
rememberLanguage();
addCopyButtons();
followReading();
