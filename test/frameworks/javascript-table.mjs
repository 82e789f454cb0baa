export const JAVASCRIPT_TABLE = {};
