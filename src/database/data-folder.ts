/** The folder of the data files that come with the program: templates, places, dynamic content. */

/** Two folders up, both from this file and from the scripts of the binary (`scripts/binary/build.ts`). */
export const DATA = new URL('../../data/', import.meta.url);
