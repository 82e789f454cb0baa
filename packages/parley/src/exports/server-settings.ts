// Imports no other module at run time: tools read the table before they know what to do.
export { nameSettings, SERVER_SETTINGS, type ServerSetting, type SettingName } from '../app/server-settings.js';
