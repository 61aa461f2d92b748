/** What became of mails, as columns of a table of campaigns. */
import type { Language } from '../words/index.ts';
import type { Column } from './table.tsx';

/** The counters of a campaign. Rates are of the mails that left; of opens and clicks, of those among them that are measured. */
interface Results {
  delivered: number;
  kept: number;
  unmeasured: number;
  people_opens: number;
  people_clicks: number;
  bounces: number;
  unsubscribes: number;
}

const CELLS = {
  delivered: (language: Language, { delivered, kept }: Results) => language.number(delivered - kept),
  opened: (language: Language, row: Results) => language.share(row.people_opens, measured(row)),
  clicked: (language: Language, row: Results) => language.share(row.people_clicks, measured(row)),
  left: (language: Language, row: Results) => language.share(row.unsubscribes, row.delivered - row.kept),
  bounced: (language: Language, { bounces }: Results) => language.number(bounces),
};

/** The columns of these names. */
export function resultColumns<Row extends Results>(
  language: Language,
  names: readonly (keyof typeof CELLS)[],
): Column<Row>[] {
  return names.map((name) => ({
    heading: language.say(`mailings.${name}`),
    isNumber: true,
    cell: (row) => CELLS[name](language, row),
  }));
}

/** How many mails left of which it is known whether they were opened. */
export function measured({ delivered, kept, unmeasured }: Pick<Results, 'delivered' | 'kept' | 'unmeasured'>): number {
  return delivered - kept - unmeasured;
}
