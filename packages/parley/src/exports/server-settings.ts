// Loads no other module at run time, because tools read the table first.
export { nameSettings, SERVER_SETTINGS, type ServerSetting, type SettingName } from '../app/server-settings.js';
