/** Who looks at a page of the dashboard. */

/** What a user may do, from the least to the most: a viewer changes nothing, an editor no settings, keys or users. */
export type Role = 'viewer' | 'editor' | 'owner';

export type ColourScheme = 'system' | 'light' | 'dark';

/** The signed-in user for whom a page is made. */
export interface Viewer {
  name: string;
  email: string;
  role: Role;
  /** Whether the user looks after the whole installation: its relays, backups and held sending. */
  isOperator: boolean;
  accountId: number;
  /** The language the user has chosen; null for the browser's. */
  language: string | null;
  /** Whether single keys are shortcuts for this user. */
  shortcuts: boolean;
  /** The colours the user has chosen; system: as the browser asks for. */
  colourScheme: ColourScheme;
}
