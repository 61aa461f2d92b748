/** Where the files that come with the program are: templates, places, dynamic content. */

/** Two folders up, as seen from this file and from the scripts of the binary (`scripts/binary/build.ts`). */
export const DATA = new URL('../../data/', import.meta.url);
