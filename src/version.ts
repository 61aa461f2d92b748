/** The release, the same as in package.json, because the single executable has no package.json to read. */
export const VERSION = '0.2.0';
