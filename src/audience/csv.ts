/** CSV. */
import { createReadStream } from 'node:fs';
import { parse } from 'fast-csv';
export async function* readRows(path: string): AsyncGenerator<string[]> {
  for await (const row of createReadStream(path).pipe(parse())) yield row;
}
