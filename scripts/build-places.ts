/** Updates data/places from the packages, and keeps every released id: `node scripts/build-places.ts`. */
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
