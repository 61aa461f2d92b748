/** The brand of an account as the designer uses it, with defaults for what the account has not chosen. */
import { contrast, hexDigits, LEGIBLE } from '../../../../../delivery/content/contrast.ts';

/** The brand as the server sends it. Fields that the account has not chosen are empty. */
export interface BrandChoice {
  logo: { src: string; alt: string; width: number } | null;
  /** Colours such as #1d5b46. Buttons and links have the first colour. */
  colours: string[];
  text_font: string;
  heading_font: string;
  button_shape: 'square' | 'rounded' | 'pill';
  /** The font stacks that can be chosen, by the name of the font. */
  fonts: Record<string, string>;
}

/** The brand with a value for every field. */
export interface Brand {
  logo: BrandChoice['logo'];
  colours: string[];
  /** The font stack of texts. */
  text: string;
  /** The font stack of headings. */
  heading: string;
  /** All fonts that can be chosen. Those of the brand come first. */
  fonts: { name: string; stack: string }[];
  /** The colour of buttons and links. */
  accent: string;
  /** The colour of text. */
  ink: string;
  /** The colour of quiet areas. */
  soft: string;
  shape: BrandChoice['button_shape'];
}

/** The least contrast of text to a light background (WCAG 2.2, 1.4.6). */
const TEXT_CONTRAST = 7;
/** The least contrast of text to a quiet area. */
const QUIET_CONTRAST = 12;
// The defaults for colours and fonts.
const ACCENT = '#1f5f8b';
const INK = '#1b2129';
const SOFT = '#eef2f5';
const FONT = 'Arial, Helvetica, sans-serif';

/** Fills in the fields that the account has not chosen. */
export function completeBrand(choice: BrandChoice | undefined): Brand {
  const colours = choice?.colours ?? [];
  const isOwn = (stack: string) => stack === choice?.text_font || stack === choice?.heading_font;
  const accent = colours[0] ?? ACCENT;
  return {
    logo: choice?.logo ?? null,
    colours,
    text: choice?.text_font || FONT,
    heading: choice?.heading_font || choice?.text_font || FONT,
    fonts: Object.entries(choice?.fonts ?? {})
      .map(([name, stack]) => ({ name, stack }))
      .sort((a, b) => Number(isOwn(b.stack)) - Number(isOwn(a.stack))),
    accent,
    // The text colour must be legible on a light background; text and links must be legible on the colour of quiet areas.
    ink: colours.slice(1).find((colour) => contrastOf(colour, SOFT) >= TEXT_CONTRAST) ?? INK,
    soft:
      colours
        .slice(1)
        .find((colour) => contrastOf(colour, INK) >= QUIET_CONTRAST && contrastOf(colour, accent) >= LEGIBLE) ?? SOFT,
    shape: choice?.button_shape ?? 'rounded',
  };
}

/** Returns the corner radius of buttons as a CSS length. */
export function buttonRadius({ shape }: Brand): string {
  return { square: '0', rounded: '6px', pill: '24px' }[shape];
}

/** Returns the contrast of two colours such as #1d5b46, from 1 to 21. */
function contrastOf(a: string, b: string): number {
  return contrast(hexDigits(a) ?? '', hexDigits(b) ?? '');
}
