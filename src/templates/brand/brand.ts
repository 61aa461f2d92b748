/** The brand of an account: its logo, colours, fonts and shape of buttons. The designer and public pages use them. */
import { eq } from 'drizzle-orm';
import type { Db } from '../../database/open.ts';
import { type BRAND_FONTS, brands, pictures } from '../../database/schema/index.ts';
import { type Clock, isoTimestamp } from '../../time/clock.ts';

export const MAX_COLOURS = 6;
/** The format of a colour, such as `#1d5b46`. */
export const COLOUR = /^#[0-9a-f]{6}$/i;
/** The maximum width of a logo in a header, in pixels. */
const LOGO_WIDTH = 180;

type Font = (typeof BRAND_FONTS)[number];
type Brand = Omit<typeof brands.$inferSelect, 'user_id' | 'created_at' | 'updated_at'>;

/** The fonts by name, each with its fallback fonts. */
const STACKS: Readonly<Record<Font, string>> = {
  Arial: 'Arial, Helvetica, sans-serif',
  Verdana: 'Verdana, Geneva, sans-serif',
  Tahoma: 'Tahoma, Verdana, Segoe, sans-serif',
  'Trebuchet MS': 'Trebuchet MS, Lucida Grande, sans-serif',
  Georgia: 'Georgia, Times New Roman, serif',
  'Times New Roman': 'Times New Roman, Times, serif',
  'Courier New': 'Courier New, Courier, monospace',
};

/** The brand of an account that has chosen nothing. */
const NO_BRAND: Brand = {
  logo_picture_id: null,
  colours: [],
  text_font: 'Arial',
  heading_font: 'Arial',
  button_shape: 'rounded',
};

/** Returns the brand of an account. `updated_at` is an ISO timestamp, or null if the account has never saved a brand. */
export function readBrand(db: Db, accountId: number): Brand & { updated_at: string | null } {
  const {
    user_id: _account,
    created_at: _created,
    ...brand
  } = db.select().from(brands).where(eq(brands.user_id, accountId)).get() ?? {};
  return { ...NO_BRAND, updated_at: null, ...brand };
}

/** What public pages show of a brand. */
export interface PublicBrand {
  /** The first colour of the brand, such as #1d5b46; empty if the brand has no colours. */
  colour: string;
  /** The logo with its path and its size in pixels on the page; null if the brand has no logo. */
  logo: { path: string; alt: string; width: number; height: number } | null;
}

/** The brand of pages that belong to no account, and of an account that has chosen nothing. */
export const NO_PUBLIC_BRAND: PublicBrand = { colour: '', logo: null };

/** Returns what public pages of an account show of its brand. */
export function publicBrand(db: Db, accountId: number): PublicBrand {
  const { logo_picture_id: id, colours } = readBrand(db, accountId);
  const logo = findLogo(db, id);
  const width = Math.min(logo?.width ?? 0, LOGO_WIDTH);
  const colour = colours[0]?.trim() ?? '';
  return {
    colour: COLOUR.test(colour) ? colour : '',
    logo:
      logo === undefined
        ? null
        : {
            path: `/pictures/${logo.public_id}/${logo.file_name}`,
            alt: logo.alt || logo.name,
            width,
            height: Math.round((logo.height * width) / logo.width),
          },
  };
}

/** Stores the brand of an account. Call inside a transaction. */
export function saveBrand({ db, clock }: { db: Db; clock: Clock }, accountId: number, brand: Brand): void {
  const now = isoTimestamp(clock.now());
  db.insert(brands)
    .values({ user_id: accountId, ...brand, created_at: now, updated_at: now })
    .onConflictDoUpdate({ target: brands.user_id, set: { ...brand, updated_at: now } })
    .run();
}

/** Returns the brand for the designer, with font stacks in place of font names, and the logo with the URL for mails. */
export function designerBrand(db: Db, accountId: number, publicUrl: string) {
  const { logo_picture_id: id, colours, text_font, heading_font, button_shape } = readBrand(db, accountId);
  const logo = findLogo(db, id);
  return {
    logo:
      logo === undefined
        ? null
        : {
            src: `${publicUrl}/pictures/${logo.public_id}/${logo.file_name}`,
            alt: logo.alt || logo.name,
            width: Math.min(logo.width, LOGO_WIDTH),
          },
    colours,
    text_font: STACKS[text_font],
    heading_font: STACKS[heading_font],
    button_shape,
    fonts: STACKS,
  };
}

function findLogo(db: Db, id: number | null) {
  return id === null ? undefined : db.select().from(pictures).where(eq(pictures.id, id)).get();
}
