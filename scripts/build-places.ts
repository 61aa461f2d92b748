/** `node scripts/build-places.ts` updates data/places from the packages with geographic data, and keeps every released id. */
import { readReleased, writeFiles } from './places/files.ts';
import { mergePlaces } from './places/merge.ts';
import { readSources } from './places/sources.ts';

const folder = new URL('../data/places/', import.meta.url);
const released = readReleased(folder);
const places = mergePlaces(released, readSources());
writeFiles(folder, places);

for (const kind of ['countries', 'states', 'cities'] as const) {
  console.log(`${kind}: ${places[kind].length}, ${places[kind].length - released[kind].length} of them new`);
}
