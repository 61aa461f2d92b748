/** An account's brand in the form that the designer uses. */

import { contrast, hexDigits, LEGIBLE } from '../../../../../delivery/content/contrast.ts';

/** The brand as the server sends it; empty fields were not chosen. */
export interface BrandChoice {
  logo: { src: string; alt: string; width: number } | null;
  /** Colours such as #1d5b46. The first is for buttons and links. */
  colours: string[];
  text_font: string;
  heading_font: string;
  button_shape: 'square' | 'rounded' | 'pill';
  /** The fonts that can be chosen, by name. */
  fonts: Record<string, string>;
}

/** The brand with a value for every field. */
export interface Brand {
  logo: BrandChoice['logo'];
  colours: string[];
  /** Font stacks. */
  text: string;
  heading: string;
  /** All fonts that can be chosen, those of the brand first. */
  fonts: { name: string; stack: string }[];
  /** Colours for buttons and links, for text, and for quiet areas. */
  accent: string;
  ink: string;
  soft: string;
  shape: BrandChoice['button_shape'];
}

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
      .sort((one, other) => Number(isOwn(other.stack)) - Number(isOwn(one.stack))),
    accent,
    // Text needs a colour that is dark on a light background, and quiet areas one on which text and links are legible.
    ink: colours.slice(1).find((colour) => contrastOf(colour, SOFT) >= 7) ?? INK,
    soft:
      colours.slice(1).find((colour) => contrastOf(colour, INK) >= 12 && contrastOf(colour, accent) >= LEGIBLE) ?? SOFT,
    shape: choice?.button_shape ?? 'rounded',
  };
}

/** Returns the corner radius of buttons. */
export function buttonRadius({ shape }: Brand): string {
  return { square: '0', rounded: '6px', pill: '24px' }[shape];
}

/** Returns the contrast of two colours such as #1d5b46, from 1 to 21. */
function contrastOf(one: string, other: string): number {
  return contrast(hexDigits(one) ?? '', hexDigits(other) ?? '');
}
