/** The release, as package.json has it: the one-file program has no package.json of ours to read. */
export const VERSION = '0.1.0';
